import { Client, FTPContext, type FTPResponse } from 'basic-ftp';

/** Maximum length of a line of a reply, in characters. */
const LONGEST_LINE = 2 ** 16;

/** An ftp client that knows whether a transfer has begun, and reads replies line by line. */
export class FtpClient extends Client {
  override readonly ftp: ControlConnection;

  constructor(timeout: number) {
    super(timeout);
    this.ftp = new ControlConnection(timeout);
  }
}

/**
 * The control connection. basic-ftp would take an incomplete line for a reply, and lose a reply
 * that arrives in two pieces. So this class passes on whole lines only.
 */
class ControlConnection extends FTPContext {
  #line = '';
  #hasBegun = false;

  /** Whether the server has announced the file (1xx), or has sent a part of it. */
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
    // Without a data connection (EPSV, PASV), a 1xx reply is a greeting with 120.
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
