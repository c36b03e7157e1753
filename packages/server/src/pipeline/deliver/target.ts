import { createHash } from 'node:crypto'
import type { DestinationConfig } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import { authHeaders, type HeldAuth } from '../../domain/delivery/destination-auth.ts'
import { bodySettings, neededOf, type BodySettings, type Need } from '../../domain/delivery/delivery-body.ts'
import {
  addressOf,
  batchOf,
  isEncrypted,
  KINDS,
  takesRequests,
  type RequestBatch,
} from '../../domain/delivery/destination-kind.ts'
import { reachOf, type Reach } from '../../domain/delivery/destination-reach.ts'
import { usesRequest } from '../../domain/delivery/program-event.ts'
import { compileTemplate, type Compiled } from '../../domain/delivery/payload-template.ts'
import { maxInFlightOf } from '../../domain/workspace/plan.ts'
import { secretPlace, type SealedColumn } from '../../resources/secret-place.ts'
import type { SigningSecrets } from '../../domain/delivery/signing-secrets.ts'
import { signingOf, type Signing } from '../../domain/delivery/signing-keys.ts'
import type { LinkPlace } from '../../platform/links/types.ts'
import { transportOf, validateHeader, type Transport } from '../../platform/outbound-http.ts'
import { findForSending, type SendingRow } from '../../resources/delivery/destinations/queries.ts'
import { chainUnder, type NextChain } from '../event-chain.ts'
import type { TargetTransform } from './transformed.ts'
import type { AccessToken, TokenClient } from './access-tokens.ts'

/** A destination as the sender needs it, with its secrets decrypted. */
export type Target = {
  readonly config: DestinationConfig
  readonly url: string
  /** A customer of a portal owns it, so it reaches less. */
  readonly ofCustomer: boolean
  /** The custom headers and those that authenticate the sender, names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly maxInFlight: number
  readonly signing: Signing
  readonly secrets: SigningSecrets
  /** The ed25519 keys; null: none sign. */
  readonly keys: SigningSecrets | null
  readonly nextChain: NextChain
  /** Requests have several events; undefined: one. */
  readonly batch: RequestBatch | undefined
  /** Deliveries with one key go one after another. */
  readonly ordered: boolean
  /** undefined: the default transport. */
  readonly transport: Transport | undefined
  readonly body: BodySettings
  readonly needs: Need
  /** Renders the body of an event instead of the envelope; undefined: the envelope is sent. */
  readonly template: { readonly compiled: Compiled; readonly secret: string | undefined } | undefined
  /** Makes the body and the headers of each request; undefined: it has none. */
  readonly transform: TargetTransform | undefined
  /** Set when requests carry an access token. */
  readonly tokenClient: TokenClient | undefined
  readonly auth: HeldAuth | null
  /** Changes with everything that a connection or a batch depends on, and reveals nothing of it. */
  readonly version: string
  /** The place of a destination that is not reached by HTTP requests. */
  readonly place: LinkPlace | undefined
}

export async function loadTarget(
  deps: Deps,
  at: { readonly workspaceId: string; readonly id: string },
): Promise<Target | undefined> {
  const row = await findForSending(deps.database, at)
  return row === undefined ? undefined : openTarget(deps, row, at.workspaceId)
}

type Sealed = SealedColumn & `destinations.${string}`

function openTarget(deps: Deps, row: SendingRow, workspaceId: string): Target {
  const open = (sealed: Buffer, column: Sealed): string =>
    deps.cipher.open(sealed, secretPlace(column, row.id)).reveal()
  const opened = (sealed: Buffer | null, column: Sealed): string | null =>
    sealed === null ? null : open(sealed, column)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by the destinations room, and opens only as it was sealed
  const headers = (row.headers === null ? {} : JSON.parse(open(row.headers, 'destinations.headers'))) as Record<
    string,
    string
  >
  const { auth, tls, proxy } = reachOf({
    auth: opened(row.auth, 'destinations.auth'),
    tls: opened(row.tls, 'destinations.tls'),
    proxy: opened(row.proxy, 'destinations.proxy'),
  })
  const transport = transportOf({ tls, proxy })
  const token = opened(row.access_token, 'destinations.access_token')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by access-tokens.ts
  const kept = token === null ? undefined : (JSON.parse(token) as AccessToken)
  const previous = opened(row.previous_secret, 'destinations.previous_secret')
  const until = row.previous_secret_expires_at?.getTime() ?? 0
  const during = (current: string, replaced: string | null): SigningSecrets => ({
    current,
    previous: replaced === null ? null : { value: replaced, until },
  })
  const signing = signingOf(row.signing)
  const key = signing.scheme === 'hmac' ? null : opened(row.signing_key, 'destinations.signing_key')
  const previousKey = opened(row.previous_signing_key, 'destinations.previous_signing_key')
  const template = templateOf(row, auth)
  const asksFor = row.auth !== null && auth?.kind === 'oauth2_client_credentials'
  return {
    config: row.config,
    url: row.url,
    ofCustomer: row.of_customer,
    headers: headersOf(row, { headers, auth }),
    maxInFlight: maxInFlightOf(deps.plans, row),
    signing,
    secrets: during(open(row.secret, 'destinations.secret'), previous),
    keys: key === null ? null : during(key, previousKey),
    nextChain: chainUnder(deps.cipher),
    batch: batchOf(row.config),
    ordered: row.order_path !== null,
    transport,
    body: bodySettings(row),
    needs: needsOf(row, template),
    template,
    transform: transformOf(row),
    tokenClient: asksFor
      ? { workspaceId, destinationId: row.id, client: auth, sealed: row.auth, kept, transport }
      : undefined,
    auth,
    version: versionOf({ ...row, max_in_flight: maxInFlightOf(deps.plans, row) }, { auth, tls, proxy }),
    place: placeOf(row, { auth, tls }),
  }
}

function transformOf({ transform, body }: SendingRow): Target['transform'] {
  if (transform === null) return undefined
  const { id, version, code, language } = transform
  const form = body === 'data' ? 'data' : 'envelope'
  return { source: { key: `${id}:${version}`, code, language }, form, usesRequest: usesRequest(code) }
}

function needsOf(row: SendingRow, template: Target['template']): Need {
  const needs = neededOf(bodySettings(row), template?.compiled)
  return needs === 'nothing' && transformOf(row)?.usesRequest === true ? 'request' : needs
}

/** Only destinations beyond HTTP need a version, and it costs more than the rest of a target. */
function versionOf({ config, url, max_in_flight }: SendingRow, reach: Reach): string {
  if (takesRequests(config)) return ''
  return createHash('sha256')
    .update(JSON.stringify([config, url, max_in_flight, reach]))
    .digest('base64url')
}

function headersOf(
  { config }: SendingRow,
  { headers, auth }: { readonly headers: Readonly<Record<string, string>>; readonly auth: HeldAuth | null },
): Readonly<Record<string, string>> {
  return { ...sendable(headers), ...(KINDS[config.kind].isHttp ? authHeaders(auth) : {}) }
}

function templateOf({ payload_template }: SendingRow, auth: HeldAuth | null): Target['template'] {
  if (payload_template === null) return undefined
  return { compiled: compiledOf(payload_template), secret: auth?.kind === 'payload' ? auth.secret : undefined }
}

function placeOf({ config, url }: SendingRow, { auth, tls }: Pick<Reach, 'auth' | 'tls'>): Target['place'] {
  if (KINDS[config.kind].isHttp) return undefined
  const { protocol, host, port, path } = addressOf(url)
  return {
    protocol,
    host,
    port,
    path,
    isEncrypted: isEncrypted(config, url),
    tls,
    user: auth?.kind === 'basic' ? { name: auth.username, password: auth.secret } : null,
    token: auth?.kind === 'bearer' ? auth.secret : null,
  }
}

/**
 * Names in lower case. Headers that were saved before they were forbidden, such as a Content-Encoding, would break the request,
 * so they are left out.
 */
function sendable(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const kept = Object.entries(headers).filter(([name, value]) => validateHeader(name, value) === undefined)
  return Object.fromEntries(kept.map(([name, value]) => [name.toLowerCase(), value]))
}

/** A saved template compiled once. If it no longer compiles after an upgrade, each attempt fails with the reason. */
function compiledOf(template: unknown): Compiled {
  const compiled = compileTemplate(template)
  if (!('error' in compiled)) return compiled
  const failed = () => ({ ok: false, error: `The payload template cannot be used: ${compiled.error}` }) as const
  return { usesSecret: false, usesRequest: false, source: 'null', render: failed, renderLight: failed }
}
