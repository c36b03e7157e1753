import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOutboundHttp } from '../../src/platform/outbound-http.ts'
import { aWorld, type World } from './harness.ts'
import type { Pair } from './tls-files.ts'

/** A certificate with an RSA key that signs itself, for a name and for hosts. It is valid for two days. */
export function aCertificate(name: string, hosts: readonly string[] = [], bits = 2_048): Pair {
  const folder = mkdtempSync(join(tmpdir(), 'postroad-provider-'))
  const names = hosts.map((host) => `DNS:${host}`).join()
  const alternatives = names === '' ? [] : ['-addext', `subjectAltName=${names}`]
  try {
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        `rsa:${bits}`,
        '-nodes',
        '-keyout',
        'own.key',
        '-out',
        'own.crt',
        '-days',
        '2',
      ].concat(['-subj', `/CN=${name}`], alternatives),
      { cwd: folder, stdio: 'pipe' },
    )
    return { key: readFileSync(join(folder, 'own.key'), 'utf8'), cert: readFileSync(join(folder, 'own.crt'), 'utf8') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const HOSTS = [
  'sns.us-east-1.amazonaws.com',
  'sns.cn-north-1.amazonaws.com.cn',
  'api.paypal.com',
  'api.sandbox.paypal.com',
  'sns.s3.amazonaws.com',
  'sns.s3-us-west-2.amazonaws.com',
  'evil.example',
  'issuer.example',
]

export type Answering = {
  readonly status: number
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The HTTPS servers of all providers in one. It answers by path, and counts the requests of each path. */
export type Providers = {
  readonly port: number
  readonly asked: Map<string, number>
  readonly answers: Map<string, Answering>
  stop(): Promise<void>
}

/** A world at the time of this machine, in which every provider is a server of this test. */
export async function aWorldOfProviders(): Promise<{ world: World; providers: Providers }> {
  const own = aCertificate('providers', HOSTS)
  const asked = new Map<string, number>()
  const answers = new Map<string, Answering>()
  const server = createServer({ key: own.key, cert: own.cert }, (request, response) => {
    const path = request.url ?? ''
    asked.set(path, (asked.get(path) ?? 0) + 1)
    const { status, body = '', headers = {} }: Answering = answers.get(path) ?? { status: 404 }
    response.writeHead(status, headers).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const resolver = {
    resolve: () => Promise.resolve({ kind: 'addresses', source: 'dns', addresses: ['127.0.0.1'] } as const),
    close: () => undefined,
  }
  const world = await aWorld({
    loops: 'all',
    now: Date.now(),
    outbound: (options) => createOutboundHttp({ ...options, resolver, ca: own.cert }),
  })
  return {
    world,
    providers: {
      port: (server.address() as AddressInfo).port,
      asked,
      answers,
      stop: () => {
        server.closeAllConnections()
        return new Promise((resolve) => void server.close(() => resolve()))
      },
    },
  }
}
