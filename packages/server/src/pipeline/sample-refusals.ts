import { isLogged } from '@postroad/contract'
import { redactedStart } from '../domain/capture/redact-body.ts'
import { signatureForms } from '../domain/signature/index.ts'
import type { TakenSample } from '../resources/capture/webhooks/refused-samples/queries.ts'
import { storedHeaders, tokenHeader } from '../domain/capture/stored-headers.ts'
import { credentialIn, type Captured, type Receiver, type Rejected } from './types.ts'

/** A rejected request, as far as the ladder had read it. */
export type Refused = {
  readonly captured: Captured
  readonly receiver: Receiver
  readonly body: Buffer
  readonly content: Buffer
  /** The sender has proven the required signature, or none is required. */
  readonly isProven: boolean
}

/**
 * Takes at most one sample a minute for a cause and an endpoint, and stores few of them in memory, so that a flood costs next to
 * nothing.
 */
export type SampleTaker = {
  take(refused: Refused, rejected: Rejected): void
  /** Returns the samples since the last call. */
  taken(): readonly TakenSample[]
}

const HELD_MAX = 200
const KNOWN_MAX = 10_000
const MINUTE_MS = 60_000
const NAMES_MAX = 100
const NAME_CHARS_MAX = 128
const HEADERS_CHARS_MAX = 16_384
/** Contract part 1: nothing of a suspended workspace is stored. */
const NEVER: ReadonlySet<string> = new Set(['workspace_suspended', 'workspace_closed'])

export function createSampleTaker(methodOf: (captured: Captured) => string): SampleTaker {
  const minutes = new Map<string, number>()
  // At most one for a cause and an endpoint, because a statement cannot write a row twice.
  let held = new Map<string, TakenSample>()
  return {
    take: (refused, rejected) => {
      const { webhook } = refused.receiver
      if (webhook === undefined || !webhook.refusedSamples || held.size >= HELD_MAX) return
      if (!isLogged(rejected.reason) || NEVER.has(rejected.reason)) return
      const key = `${webhook.id} ${rejected.reason}`
      const minute = Math.floor(refused.captured.receivedAt / MINUTE_MS)
      if (minutes.get(key) === minute) return
      if (minutes.size >= KNOWN_MAX) minutes.clear()
      minutes.set(key, minute)
      held.set(key, { ...sampleOf(refused, rejected), webhookId: webhook.id, method: methodOf(refused.captured) })
    },
    taken: () => {
      const samples = [...held.values()]
      held = new Map()
      return samples
    },
  }
}

function sampleOf(refused: Refused, { reason, scheme, failedStep, text }: Rejected) {
  const { captured, receiver } = refused
  const { headers, receivedAt, sourceIp } = captured
  const settings = receiver.webhook?.settings
  const own = settings !== undefined && 'header' in settings ? settings : undefined
  const isSignature = failedStep !== undefined
  return {
    workspaceId: receiver.plan.workspaceId,
    projectId: receiver.plan.projectId,
    reason,
    at: receivedAt,
    sourceIp: sourceIp ?? null,
    headerNames: JSON.stringify(
      Object.keys(headers)
        .slice(0, NAMES_MAX)
        .map((name) => name.slice(0, NAME_CHARS_MAX)),
    ),
    signatureForms: JSON.stringify(signatureForms(headers, own)),
    scheme: isSignature ? (scheme ?? null) : null,
    failedStep: failedStep ?? null,
    detail: isSignature ? (text ?? null) : null,
    ...valuesOf(refused),
  }
}

const NO_VALUES = { headers: null, body: null, bodySize: null }

/** Nothing from a request is stored before its sender has proven the signature that the endpoint or the key requires. */
function valuesOf(refused: Refused) {
  const { captured, body, isProven } = refused
  if (asksForSignature(refused.receiver) && !isProven) return NO_VALUES
  const credential = credentialIn(captured.address)
  const readable = readableOf(refused)
  return {
    headers: storedHeaders(fewOf(captured.headers), { credential, token: tokenHeader(refused.receiver.webhook) }),
    body: readable === undefined ? null : (redactedStart(readable, credential) ?? null),
    bodySize: body.length === 0 ? null : body.length,
  }
}

function asksForSignature({ webhook, ingestKey }: Receiver): boolean {
  return (webhook !== undefined && webhook.settings.scheme !== 'none') || ingestKey?.secrets !== undefined
}

/** The body as far as it was read and inflated. */
function readableOf({ captured, body, content }: Refused): Buffer | undefined {
  if (content.length > 0) return content
  const isCompressed = captured.headers['content-encoding'] !== undefined
  return isCompressed || body.length === 0 ? undefined : body
}

/** The first headers, up to about 16 KiB. */
function fewOf(headers: Readonly<Record<string, string>>): Record<string, string> {
  const few: Record<string, string> = Object.create(null)
  let chars = 0
  for (const name of Object.keys(headers).slice(0, NAMES_MAX)) {
    const value = headers[name] ?? ''
    chars += name.length + value.length
    if (chars > HEADERS_CHARS_MAX) break
    few[name] = value
  }
  return few
}
