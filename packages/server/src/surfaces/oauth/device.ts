import { LIMITS } from '@postroad/contract'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { refuse } from '../../domain/refusal.ts'
import { audienceOf, connectAgent } from '../../resources/people/connected-agents/index.ts'
import { lockDeviceRequest, type DeviceRequest } from '../../resources/people/oauth-entries/index.ts'
import { throttle } from '../../resources/people/throttles/index.ts'
import { inTransaction } from '../../transaction.ts'
import { askedScope } from './asked-scope.ts'
import { choicesOf, Decision, readBody, type Person } from './decision.ts'
import { OWN_CLIENTS, plainName } from './clients.ts'
import { accountOf, WHOLE_LADDER } from './provider.ts'

/** A code as a person types it: letters in any case, with or without the dash. */
const UserCode = z
  .string()
  .max(40)
  .transform((text) => text.toUpperCase().replaceAll(/[^A-Z0-9]/g, ''))
const Asked = z.object({ user_code: UserCode })

const DeviceName = z
  .string()
  .transform(plainName)
  .transform((name) => (name === '' ? undefined : name))

/** The members of a stored request that the page shows. */
const Stored = z.object({
  clientId: z.string(),
  accountId: z.string().optional(),
  error: z.string().optional(),
  params: z.object({ asked_scope: z.string().optional(), device_name: DeviceName.optional() }).default({}),
  deviceInfo: z.object({ ip: z.string().nullable(), userAgent: z.string() }).optional(),
})
type Stored = z.infer<typeof Stored>

/** The program and the device behind a code. */
export async function showDevice(request: FastifyRequest, person: Person) {
  const { user_code: code } = readBody(Asked, request.body)
  await limitGuesses(person)
  const { stored, createdAt } = await inTransaction(person, (tx) => openDevice(tx, code))
  return {
    client: { name: nameOf(stored), host: null },
    device: {
      name: stored.params.device_name ?? null,
      ip: stored.deviceInfo?.ip ?? null,
      asked_at: new Date(createdAt).toISOString(),
    },
    asked_scope: askedScope(stored.params.asked_scope),
    ...(await choicesOf(person, null)),
  }
}

/** Stores the decision. The device learns of it at its next request. */
export async function decideDevice(request: FastifyRequest, person: Person): Promise<{ readonly ok: true }> {
  await limitGuesses(person)
  const [{ user_code: code }, decision] = [readBody(Asked, request.body), readBody(WithoutCode, request.body)]
  await inTransaction(person, async (tx) => {
    const { stored, entry } = await openDevice(tx, code)
    if (decision.decision === 'deny') return entry.decide({ error: 'access_denied' }, null)
    const { userId } = person.actor
    const device = stored.params.device_name
    const grantId = await connectAgent(tx, {
      userId,
      workspaceId: decision.workspace_id,
      scope: decision.scope,
      client: {
        id: stored.clientId,
        name: device === undefined ? nameOf(stored) : `${nameOf(stored)} on ${device}`,
        host: null,
      },
      redirectHost: null,
    })
    return entry.decide(
      { accountId: accountOf(userId), grantId, scope: WHOLE_LADDER, resource: audienceOf(tx) },
      grantId,
    )
  })
  return { ok: true }
}

/** A code is short, so a person may try only a few within a period. */
function limitGuesses(person: Person): Promise<void> {
  const [burst, refillMs] = [LIMITS.userCodeTriesBurst, LIMITS.userCodeTriesRefillMs]
  return throttle(person, { what: 'user_code', whose: person.actor.userId, burst, refillMs })
}

/** The decision beside the code, which `Asked` has read. */
const WithoutCode = z.preprocess((body) => {
  const { user_code: _code, ...rest } = z.record(z.string(), z.unknown()).catch({}).parse(body)
  return rest
}, Decision)

async function openDevice(
  tx: Parameters<typeof lockDeviceRequest>[0],
  code: string,
): Promise<{ readonly stored: Stored; readonly createdAt: number; readonly entry: DeviceRequest }> {
  const entry = await lockDeviceRequest(tx, code)
  const stored = Stored.safeParse(entry?.content)
  const isOver =
    entry === undefined ||
    !stored.success ||
    (entry.expiresAt ?? 0) <= tx.clock.now() ||
    entry.consumedAt !== null ||
    stored.data.accountId !== undefined ||
    stored.data.error !== undefined
  if (isOver) throw refuse('user_code_unknown')
  return { stored: stored.data, createdAt: entry.createdAt, entry }
}

/** Only programs of this server may ask by a code, because a code can be sent to anyone. */
function nameOf({ clientId }: Stored): string {
  return OWN_CLIENTS.find(({ client_id: id }) => id === clientId)?.client_name ?? clientId
}
