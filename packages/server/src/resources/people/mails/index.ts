import { LIMITS } from '@postroad/contract'
import type { Ctx, Deps } from '../../../context.ts'
import { writeEmail, type EmailText } from '../../../domain/people/email-text.ts'
import { secretPlace } from '../../secret-place.ts'
import {
  findInOutbox,
  insertMail,
  leaseDueMails,
  listOutbox,
  setFailed,
  setRetry,
  setSent,
  type DueMail,
  type OutboxMail,
} from './queries.ts'

type Queued = {
  /** The subject of the email, for the log: `sign_in_link`. */
  readonly kind: string
  readonly to: string
  readonly message: EmailText
  /** The time for which the email is useful; it is not sent later. */
  readonly usefulMs: number
  /** Writes the row but sends nothing, so that a request for a link costs the same whether or not there is an account. */
  readonly void?: boolean
}

/** Queues an email in the caller's transaction. It is sent after the commit, and tried again for as long as it is useful. */
export async function queueMail(tx: Ctx, of: Queued): Promise<void> {
  const id = tx.uuid()
  const now = tx.clock.now()
  const sealed = tx.cipher.seal(
    JSON.stringify({ to: of.to, ...writeEmail(of.message) }),
    secretPlace('mails.sealed', id),
  )
  await insertMail(tx.db, {
    id,
    kind: of.kind,
    sealed,
    now: new Date(now),
    expiresAt: new Date(now + of.usefulMs),
    sentAt: of.void === true ? new Date(now) : null,
  })
}

const LEASE_MS = 120_000
const AT_ONCE = 10
/** The waits between two attempts: 5 s, 15 s, 1 min, 5 min, 15 min, then every hour. */
const RETRY_MS = [5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000] as const
const ERROR_CHARS_MAX = 300

/** Sends the emails that are due, ten at a time. */
export async function sendDueMails(deps: Deps): Promise<void> {
  for (;;) {
    const now = deps.clock.now()
    // oxlint-disable-next-line no-await-in-loop -- one batch after another
    const due = await leaseDueMails(deps.database, {
      now: new Date(now),
      leaseUntil: new Date(now + LEASE_MS),
      limit: AT_ONCE,
    })
    // oxlint-disable-next-line no-await-in-loop -- as above
    await Promise.all(due.map((mail) => sendOrLeave(deps, mail)))
    if (due.length < AT_ONCE) return
  }
}

/** If the outcome cannot be stored, the email becomes due again when its lease ends. */
async function sendOrLeave(deps: Deps, mail: DueMail): Promise<void> {
  await sendOne(deps, mail).catch((cause: unknown) =>
    deps.retryLog.warn('mail.not_settled', { id: mail.id, kind: mail.kind, cause }),
  )
}

async function sendOne(deps: Deps, mail: DueMail): Promise<void> {
  const { id, kind, attempts } = mail
  const now = new Date(deps.clock.now())
  if (mail.expires_at <= now) {
    await setFailed(deps.database, { id, now, error: 'It was no longer useful when it became due.' })
    deps.log.error('mail.given_up', { id, kind, attempts })
    return
  }
  try {
    await deps.mailer.send({ id, ...openMail(deps, mail) })
  } catch (cause) {
    const error = (cause instanceof Error ? cause.message : String(cause)).slice(0, ERROR_CHARS_MAX)
    const wait = RETRY_MS[Math.min(attempts, RETRY_MS.length) - 1] ?? RETRY_MS[0]
    await setRetry(deps.database, { id, dueAt: new Date(deps.clock.now() + wait), error })
    deps.log.warn('mail.not_sent', { id, kind, attempts, error, again_in_ms: wait })
    return
  }
  await setSent(deps.database, { id, now, inOutbox: deps.mailer.kind === 'outbox' })
  deps.log.info('mail.sent', { id, kind, attempts, by: deps.mailer.kind })
}

type Content = { readonly to: string; readonly subject: string; readonly text: string; readonly html: string }

function openMail(
  { cipher }: Pick<Deps, 'cipher'>,
  { id, sealed }: { readonly id: string; readonly sealed: Buffer },
): Content {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by queueMail only
  return JSON.parse(cipher.open(sealed, secretPlace('mails.sealed', id)).reveal()) as Content
}

type Reading = Pick<Ctx, 'db' | 'clock' | 'cipher' | 'mailer'>

/** The emails that an operator must hand over, because there is no mail server. */
export async function outbox(ctx: Reading): Promise<readonly (Content & OutboxMail)[]> {
  if (ctx.mailer.kind !== 'outbox') return []
  const mails = await listOutbox(ctx.db, { now: new Date(ctx.clock.now()), limit: LIMITS.outboxShown })
  return mails.map((mail) => ({ ...mail, ...openMail(ctx, mail) }))
}

/** One of them; undefined: it is not there, or no longer useful. */
export async function fromOutbox(ctx: Reading, id: string): Promise<Content | undefined> {
  if (ctx.mailer.kind !== 'outbox') return undefined
  const mail = await findInOutbox(ctx.db, { id, now: new Date(ctx.clock.now()) })
  return mail === undefined ? undefined : openMail(ctx, mail)
}
