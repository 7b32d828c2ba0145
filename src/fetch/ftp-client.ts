import { Client, FTPContext, type FTPResponse } from 'basic-ftp';

/** Characters of a reply's unfinished line beyond which the server is given up. */
const LONGEST_LINE = 2 ** 16;

/**
 * An ftp client that tells a transfer that has begun, and takes no reply before its line end is
 * there.
 */
export class FtpClient extends Client {
  override readonly ftp: ControlConnection;

  constructor(timeout: number) {
    super(timeout);
    this.ftp = new ControlConnection(timeout);
  }
}

/**
 * The control connection. The library takes a line without its end for a reply, and loses a reply
 * that comes in two pieces; so it is given whole lines only.
 */
class ControlConnection extends FTPContext {
  #line = '';
  #hasBegun = false;

  /** Whether the server has said that it sends the file (1xx), or has sent some of it. */
  get transferHasBegun(): boolean {
    return this.#hasBegun;
  }

  override reset(): void {
    this.#line = '';
    super.reset();
  }

  protected override _onControlSocketData(chunk: string): void {
    const end = chunk.lastIndexOf('\n') + 1;
    const lines = end === 0 ? '' : this.#line + chunk.slice(0, end);
    this.#line = end === 0 ? this.#line + chunk : chunk.slice(end);
    if (this.#line.length > LONGEST_LINE) {
      this.closeWithError(new Error('FTP control response exceeded maximum allowed size'));
    } else if (lines !== '') {
      super._onControlSocketData(lines);
    }
  }

  protected override _passToHandler(reply: Error | FTPResponse): void {
    // There is a data connection only from EPSV or PASV on, so a greeting with 120 does not count.
    const { dataSocket } = this;
    if (dataSocket !== undefined && (isPreliminary(reply) || dataSocket.bytesRead > 0)) {
      this.#hasBegun = true;
    }
    super._passToHandler(reply);
  }
}

function isPreliminary(reply: Error | FTPResponse): boolean {
  return !(reply instanceof Error) && reply.code < 200;
}
