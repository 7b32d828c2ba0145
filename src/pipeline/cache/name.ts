import { isUtf8 } from 'node:buffer';
import { decodeOctets, escapeOctet, printable } from '../../control-characters.js';

/*
 * Names are octets to the file system. A list of them is held as strings of
 * one character for each octet ("octet names"): half the memory of buffers
 * for a million names, and the default order of strings is the order of the
 * octets.
 */

function isPlain(octetName: string): boolean {
  for (let i = 0; i < octetName.length; i++) {
    const octet = octetName.charCodeAt(i);
    if (octet < 0x20 || octet > 0x7e) return false;
  }
  return true;
}

/** The text of an octet name; `undefined` where it is not UTF-8. */
export function decodeName(octetName: string): string | undefined {
  if (isPlain(octetName)) return octetName;
  const octets = Buffer.from(octetName, 'latin1');
  return isUtf8(octets) ? octets.toString('utf8') : undefined;
}

/**
 * An octet name for messages, on one line: control characters, and octets that are not UTF-8, as
 * `\xNN` or `\u{NNNN}`.
 */
export function describeName(octetName: string): string {
  if (isPlain(octetName)) return octetName;
  const octets = Buffer.from(octetName, 'latin1');
  const { text, left } = decodeOctets(octets);
  return printable(text) + Array.from(octets.subarray(octets.length - left), escapeOctet).join('');
}
