import type { Deps } from '../../context.ts'
import { costOfIngest } from '../../platform/work-meter.ts'
import type { Buckets } from '../../platform/buckets.ts'
import type { Directory } from '../directory.ts'
import type { Quarantine } from '../quarantine/take.ts'
import { payerOf } from '../turn.ts'
import type { Rejections } from '../rejections.ts'
import type { Answered, Captured, Receiver, Rejected, Verified } from '../types.ts'
import { checkBody } from './check-body.ts'
import { checkBurst } from './check-burst.ts'
import { checkCors, checkPreflight, sharedWith } from './check-cors.ts'
import { checkDataset } from './check-dataset.ts'
import { checkEnabled } from './check-enabled.ts'
import { checkContent, checkEncoding } from './check-encoding.ts'
import { asksByHead, checkHandshake, checkOpenHandshake, checkSignedHandshake, questionOf } from './check-handshake.ts'
import { checkIdempotency } from './check-idempotency.ts'
import { checkIp } from './check-ip.ts'
import { checkKey } from './check-key.ts'
import { checkLoop } from './check-loop.ts'
import { checkSignature } from './check-signature.ts'
import { checkSize } from './check-size.ts'
import { checkSuspended } from './check-suspended.ts'
import type { Check, Passage } from './passage.ts'
import { resolveReceiver } from './resolve-receiver.ts'

/**
 * The order is the contract's: checks that need no body come before the body is read, checks that need no parsing come before
 * it is parsed, and nothing is stored or counted before the last rung. Only the commit decides whether an event is a repeat and
 * whether the quota has room for it, in this order (`store/admit.ts`).
 */
export const LADDER: readonly Check[] = [
  checkPreflight,
  checkEnabled,
  checkIp,
  checkSuspended,
  checkBurst,
  checkCors,
  checkKey,
  checkHandshake,
  checkSize,
  checkEncoding,
  checkOpenHandshake,
  checkSignature,
  checkContent,
  checkBody,
  checkSignedHandshake,
  checkDataset,
  checkLoop,
  checkIdempotency,
]

type Climbing = Deps & {
  readonly directory: Directory
  readonly buckets: Buckets
  readonly rejections: Rejections
  readonly quarantine: Quarantine
}

/** Resolves the subject of the credential, then climbs the ladder. Only this function makes a `Verified`. */
export async function verify(deps: Climbing, captured: Captured): Promise<Verified | Answered | Rejected> {
  const receiver = await resolveReceiver(deps, captured)
  if ('kind' in receiver) return receiver
  share(captured, receiver)
  const passage: Passage = {
    captured,
    receiver,
    body: EMPTY,
    content: EMPTY,
    payload: undefined,
    isOutline: false,
    keyOfItems: undefined,
    isProven: false,
    text: '',
    isBody: false,
    hops: 0,
    chain: null,
    idempotency: undefined,
  }
  // Some providers send HEAD before they save a URL. The answer is neither stored nor counted.
  if (captured.asked.kind === 'probe') return checkEnabled(deps, passage) ?? ENABLED
  let isAdmitted = false
  for (const check of LADDER) {
    const checked = check(deps, passage)
    // oxlint-disable-next-line no-await-in-loop -- a request climbs one rung at a time; most rungs are not asynchronous
    const answer = checked instanceof Promise ? await checked : checked
    if (answer === undefined) {
      isAdmitted ||= check === checkBurst
      continue
    }
    if (answer.kind !== 'rejected') return answer
    // An earlier refusal costs nearly nothing, and must not keep the sender out for longer.
    if (isAdmitted) chargeFor(deps, passage, { isRefused: true })
    // oxlint-disable-next-line no-await-in-loop -- the last rung of this request
    await deps.quarantine.take(passage, answer)
    return deps.rejections.note(passage, answer)
  }
  chargeFor(deps, passage, { isRefused: false })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- private to this file, and made after the last rung
  return passage as unknown as Verified
}

/**
 * Whether a GET is the question of a handshake that an endpoint answers. Any other GET belongs to the console, and leaves no
 * trace here.
 */
export async function isQuestion(deps: Climbing, captured: Captured): Promise<boolean> {
  const receiver = await resolveReceiver(deps, captured)
  return !('kind' in receiver) && asksByHead(receiver.webhook, questionOf(captured, 'GET'))
}

/** The credential pays for the bytes that were read, and for a refusal. A thread charges its time itself. */
// oxlint-disable-next-line max-params -- the meter, the request, and its outcome
function chargeFor({ work }: Deps, { receiver, content, body }: Passage, { isRefused }: { isRefused: boolean }): void {
  work.charge(payerOf(receiver), costOfIngest({ bytes: Math.max(content.length, body.length), isRefused }))
}

/** A page that may post may also read the answer, even a refusal. */
function share(captured: Captured, receiver: Receiver): void {
  const { origin } = captured.headers
  const shared = origin === undefined ? undefined : sharedWith(receiver, origin)
  if (shared !== undefined) captured.shareWith(shared)
}

const ENABLED: Answered = { kind: 'answered', with: 'enabled' }
const EMPTY = Buffer.alloc(0)
