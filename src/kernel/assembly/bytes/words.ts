/** Short texts as the number that one load gives: the first character is the lowest byte. */

export const HTTP: i32 = 0x70747468; // http
export const HTTPS: u64 = 0x7370747468; // https
export const FTP: i32 = 0x707466; // ftp
export const COLON_SLASH_SLASH: i32 = 0x2f2f3a; // ://
export const SLASH_SLASH: i32 = 0x2f2f; // //
export const TRUE: i32 = 0x65757274; // true
export const FALS: i32 = 0x736c6166; // fals
export const NULL: i32 = 0x6c6c756e; // null
export const QUOTE_COLON: i32 = 0x3a22; // ":
export const QUOTE_COMMA: i32 = 0x2c22; // ",
export const QUOTE_BRACE: i32 = 0x7d22; // "}
export const BACKSLASH_U: i32 = 0x755c; // \u
export const BACKSLASH_U00: i32 = 0x3030755c; // \u00
export const SLASH_ROB: i32 = 0x626f722f; // /rob
export const OTS_DOT: i32 = 0x2e73746f; // ots.
export const DOT_TXT: i32 = 0x7478742e; // .txt
