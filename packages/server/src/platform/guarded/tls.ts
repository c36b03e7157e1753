import { checkServerIdentity, getCACertificates, type ConnectionOptions } from 'node:tls'
import type { TransportTls } from '../outbound/request.ts'

/** TLS with the name of the host, whatever address is dialed. `trusted`: authorities instead of the system's. */
export function tlsOptions(
  { host, tls }: { readonly host: string; readonly tls: TransportTls | null },
  trusted: string | undefined,
): ConnectionOptions {
  const authorities = trusted === undefined ? getCACertificates('default') : [trusted]
  return {
    rejectUnauthorized: true,
    servername: /[a-z]/i.test(host) && !host.includes(':') ? host : '',
    ca: tls?.ca === undefined ? authorities : [...authorities, tls.ca],
    ...(tls?.certificate === undefined ? {} : { cert: tls.certificate }),
    ...(tls?.private_key === undefined ? {} : { key: tls.private_key }),
    checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
  }
}
