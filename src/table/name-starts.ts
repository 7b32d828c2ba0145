import {
  HOST_NUMBERED,
  HOST_NUMBERED_NAME,
  HOST_PLAIN,
  HOST_PLAIN_NAME,
  HOST_SEVERAL,
  HOST_SEVERAL_NAME,
} from './format.js';

/** Where the name starts in a host record, by the form of the record. */
export const NAME_STARTS: Readonly<Record<number, number>> = {
  [HOST_PLAIN]: HOST_PLAIN_NAME,
  [HOST_NUMBERED]: HOST_NUMBERED_NAME,
  [HOST_SEVERAL]: HOST_SEVERAL_NAME,
};
