import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import type { FetchAuthority } from '../../src/fetch/result.js';
import type { Loopback } from './servers.js';

/**
 * A server of files by anonymous ftp: of RFC 959 and RFC 2428 what it takes to log in, to ask for a
 * file in extended or plain passive mode, and to leave.
 */
export class FtpServer {
  readonly authority: FetchAuthority;
  /** User names and passwords, with a space between. */
  readonly logins: string[] = [];

  private constructor(port: number) {
    this.authority = { scheme: 'ftp', host: '127.0.0.1', port };
  }

  /** @param files by their absolute path */
  static async start(
    loopback: Loopback,
    files: ReadonlyMap<string, string | Uint8Array>,
  ): Promise<FtpServer> {
    let server: FtpServer | undefined;
    const { port } = await loopback.raw((socket) => {
      if (server !== undefined) serve(socket, files, server.logins);
    });
    server = new FtpServer(port);
    return server;
  }
}

function serve(
  socket: Socket,
  files: ReadonlyMap<string, string | Uint8Array>,
  logins: string[],
): void {
  let user = '';
  /** Where the client may connect, and its connection, which comes before it asks for a file. */
  let data: { readonly server: net.Server; readonly connection: Promise<Socket> } | undefined;
  const say = (reply: string) => {
    socket.write(`${reply}\r\n`);
  };

  const passive = async (describe: (port: number) => string) => {
    data?.server.close();
    const server = net.createServer().listen(0, '127.0.0.1');
    const connection = new Promise<Socket>((resolve) => {
      server.once('connection', (client) => {
        server.close();
        resolve(client);
      });
    });
    data = { server, connection };
    await once(server, 'listening');
    say(describe((server.address() as AddressInfo).port));
  };

  const retrieve = async (path: string) => {
    const content = files.get(path);
    const asked = data;
    data = undefined;
    if (content === undefined) {
      asked?.server.close();
      say('550 No such file.');
    } else if (asked === undefined) {
      say('425 Say EPSV or PASV first.');
    } else {
      say('150 Here it comes.');
      const connection = await asked.connection;
      // Who has read enough hangs up.
      connection.on('error', () => {});
      connection.on('close', () => say('226 That was it.'));
      connection.end(content);
    }
  };

  const obey = async (line: string) => {
    const [verb = '', ...words] = line.split(' ');
    const argument = words.join(' ');
    switch (verb) {
      case 'USER':
        user = argument;
        return say('331 And the password?');
      case 'PASS':
        logins.push(`${user} ${argument}`);
        return say('230 Welcome.');
      case 'TYPE':
        return say('200 As you like.');
      case 'EPSV':
        return passive((port) => `229 Entering Extended Passive Mode (|||${port}|)`);
      case 'PASV':
        return passive(
          (port) => `227 Entering Passive Mode (127,0,0,1,${port >> 8},${port & 255})`,
        );
      case 'RETR':
        return retrieve(argument);
      case 'QUIT':
        say('221 Goodbye.');
        return socket.destroySoon();
      default:
        return say(`502 There is no ${verb} here.`);
    }
  };

  let text = '';
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
    const lines = text.split('\r\n');
    text = lines.pop() ?? '';
    for (const line of lines) void obey(line);
  });
  socket.on('close', () => data?.server.close());
  say('220 Ready.');
}
