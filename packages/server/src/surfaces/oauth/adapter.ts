import { SCOPES } from '@postroad/contract'
import type { Adapter, AdapterPayload } from 'oidc-provider'
import type { Deps } from '../../context.ts'
import { librarySeconds } from '../../platform/clock.ts'
import { audienceOf, endGrant, findGrant } from '../../resources/people/connected-agents/index.ts'
import {
  readEntry,
  removeEntriesOf,
  removeEntry,
  storeEntry,
  useEntry,
  type OauthEntry,
} from '../../resources/people/oauth-entries/index.ts'
import { PATHS } from './paths.ts'
import { requestOf } from './request-of.ts'

type AdapterParts = {
  readonly deps: Deps
  /** The error of a code or token that was used before. */
  readonly usedBefore: () => Error
}

/** Where the library stores each of its models. */
export function adapterFor(parts: AdapterParts, kind: string): Adapter {
  if (kind === 'Session') return NOWHERE
  return kind === 'Grant' ? grants(parts.deps) : entries(parts, kind)
}

/** The browser is signed in by the session of the console, so the library stores no session. */
const NOWHERE: Adapter = {
  upsert: async () => undefined,
  find: async () => undefined,
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  consume: async () => undefined,
  destroy: async () => undefined,
  revokeByGrantId: async () => undefined,
}

/** A grant is the row of a connected agent, as it is at this moment. The library never writes one. */
function grants(deps: Deps): Adapter {
  return {
    ...NOWHERE,
    upsert: () => Promise.reject(new Error('Only the consent of a person makes a grant.')),
    find: async (grantId) => {
      const grant = await findGrant(deps, grantId)
      if (grant === undefined) return undefined
      return {
        kind: 'Grant',
        jti: grantId,
        iat: librarySeconds(),
        exp: librarySeconds() + GRANT_SECONDS,
        accountId: grant.account,
        clientId: grant.clientId,
        resources: { [audienceOf(deps)]: grant.scopes.join(' ') },
      }
    },
    // The library destroys a grant when its client signs out, and when a code or a refresh token of it comes a second time.
    destroy: async (grantId) => {
      const request = requestOf.getStore()
      await endGrant(deps, {
        grantId,
        by: request?.path === PATHS.revocation ? 'client' : 'token_reused',
        requestId: request?.id ?? '',
      })
    },
  }
}

/** The row of a grant is read for each request, so the grant itself does not expire. */
const GRANT_SECONDS = 3_600

function entries({ deps, usedBefore }: AdapterParts, kind: string): Adapter {
  const tools = { db: deps.database, clock: deps.clock }
  return {
    ...NOWHERE,
    upsert: async (name, { jti: _name, userCode, ...content }, expiresIn) => {
      await storeEntry(tools, {
        kind,
        name,
        content,
        grantId: content.grantId ?? null,
        userCode: userCode ?? null,
        seconds: expiresIn ?? null,
      })
    },
    find: async (name) => {
      const entry = await readEntry(tools, { kind, name })
      return entry === undefined ? undefined : payloadOf(entry, { kind, name, now: deps.clock.now() })
    },
    // The library reads before it consumes, so this decides between two requests at the same moment.
    consume: async (name) => {
      if (!(await useEntry(tools, { kind, name }))) throw usedBefore()
    },
    destroy: (name) => removeEntry(tools, { kind, name }),
    revokeByGrantId: (grantId) => removeEntriesOf(tools, { grantId, kind }),
  }
}

/** The library compares times with its own clock, so they are translated from ours. */
function payloadOf(
  { content, createdAt, expiresAt, consumedAt }: OauthEntry,
  { kind, name, now }: { kind: string; name: string; now: number },
): AdapterPayload {
  if (kind === 'Client') return content
  const seconds = librarySeconds()
  return {
    ...content,
    jti: name,
    // The library cuts this to the scopes that the grant has now, so that a refreshed token names a wider scope too.
    ...(kind === 'RefreshToken' ? { scope: SCOPES.join(' ') } : {}),
    iat: seconds - Math.floor((now - createdAt) / 1_000),
    ...(expiresAt === null ? {} : { exp: seconds + Math.ceil((expiresAt - now) / 1_000) }),
    ...(consumedAt === null ? {} : { consumed: seconds - Math.floor((now - consumedAt) / 1_000) }),
  }
}
