/** The streams of random numbers. They are independent: more hosts do not change the URLs. */
export const STREAM = {
  words: 1,
  hosts: 2,
  bodies: 3,
  order: 4,
  urls: 5,
  records: 6,
  captures: 7,
  archives: 8,
  index: 9,
  rows: 10,
} as const;
