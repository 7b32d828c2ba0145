/**
 * ASCII characters by name, for all code that reads bytes. Compiled by both the TypeScript and the
 * AssemblyScript compiler: integer constants only.
 */

export const NUL = 0x00;
export const BACKSPACE = 0x08;
export const TAB = 0x09;
export const LF = 0x0a;
export const VERTICAL_TAB = 0x0b;
export const FORM_FEED = 0x0c;
export const CR = 0x0d;
export const ESCAPE = 0x1b;
/** Every byte below SPACE is a control character. */
export const SPACE = 0x20;
export const EXCLAMATION_MARK = 0x21;
export const QUOTE = 0x22;
export const HASH = 0x23;
export const DOLLAR = 0x24;
export const PERCENT = 0x25;
export const ASTERISK = 0x2a;
export const PLUS = 0x2b;
export const COMMA = 0x2c;
export const HYPHEN = 0x2d;
export const DOT = 0x2e;
export const SLASH = 0x2f;
export const DIGIT_0 = 0x30;
export const DIGIT_2 = 0x32;
export const DIGIT_9 = 0x39;
export const COLON = 0x3a;
export const SEMICOLON = 0x3b;
export const LESS_THAN = 0x3c;
export const GREATER_THAN = 0x3e;
export const QUESTION_MARK = 0x3f;
export const AT_SIGN = 0x40;
export const UPPER_A = 0x41;
export const UPPER_T = 0x54;
export const UPPER_Z = 0x5a;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const CARET = 0x5e;
export const UNDERSCORE = 0x5f;
export const BACKTICK = 0x60;
export const LOWER_A = 0x61;
export const LOWER_B = 0x62;
export const LOWER_E = 0x65;
export const LOWER_F = 0x66;
export const LOWER_N = 0x6e;
export const LOWER_R = 0x72;
export const LOWER_S = 0x73;
export const LOWER_T = 0x74;
export const LOWER_U = 0x75;
export const LOWER_V = 0x76;
export const LOWER_X = 0x78;
export const LOWER_Z = 0x7a;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const TILDE = 0x7e;
export const DELETE = 0x7f;

/** The bit that an ASCII letter has in lower case only. */
export const LOWER_CASE_BIT = 0x20;
