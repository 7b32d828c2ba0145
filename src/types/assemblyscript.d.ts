/** AssemblyScript's 32-bit integer, for the files that both compilers read. */
type i32 = number;
