import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from './harness.ts'

const PROGRAM = '/usr/sbin/nginx'

/** The reason why tests behind nginx cannot run here; false when they can. */
export const noNginx: string | false = existsSync(PROGRAM)
  ? false
  : `${PROGRAM} is not installed: what a proxy makes of hostile requests is NOT tested here`

export type Nginx = {
  readonly url: string
  /** The ids of the requests that it forwarded, each in the header X-Proxied of its request. */
  passedOn(): readonly string[]
  stop(): Promise<void>
}

/**
 * A proxy as people put it in front of a server: connections to the server are reused, and several clients share them.
 */
export async function anNginx(target: string, { buffering }: { readonly buffering: 'on' | 'off' }): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'postroad-nginx-'))
  chmodSync(folder, 0o755)
  const port = await freePort()
  const log = join(folder, 'access.log')
  writeFileSync(join(folder, 'nginx.conf'), configuration({ port, log, buffering, target: new URL(target).host }))
  const child = spawn(PROGRAM, ['-p', folder, '-e', join(folder, 'error.log'), '-c', join(folder, 'nginx.conf')], {
    stdio: 'ignore',
  })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await eventually('nginx listens', async () => ((await isOpen(port)) ? true : undefined))
  return {
    url: `http://127.0.0.1:${port}`,
    passedOn: () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line.endsWith(' passed on'))
        .map((line) => line.slice(0, 32)),
    stop: async () => {
      child.kill('SIGQUIT')
      await gone
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const configuration = (of: {
  readonly port: number
  readonly log: string
  readonly buffering: string
  readonly target: string
}): string => `
daemon off;
worker_processes 1;
${process.getuid?.() === 0 ? 'user root;' : ''}
pid nginx.pid;
events { worker_connections 256; }
http {
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`).join('\n  ')}
  map $upstream_addr $whether { '' kept; default 'passed on'; }
  log_format passed '$request_id $status $whether';
  access_log ${of.log} passed;
  client_header_timeout 2s;
  client_body_timeout 2s;
  client_max_body_size 10m;
  upstream postroad { server ${of.target}; keepalive 1; }
  server {
    listen 127.0.0.1:${of.port};
    location / {
      proxy_pass http://postroad;
      proxy_http_version 1.1;
      proxy_request_buffering ${of.buffering};
      proxy_next_upstream off;
      proxy_set_header Connection '';
      proxy_set_header Host $host;
      proxy_set_header X-Proxied $request_id;
    }
  }
}
`

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}
