import { apiKeys } from './api-keys.ts'
import { invites } from './invites.ts'
import { me } from './me.ts'
import { members } from './members.ts'

/** Who may do what: members, invites, keys and the caller itself. */
export const people = { apiKeys, invites, me, members } as const
