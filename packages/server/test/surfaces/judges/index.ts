import { answers, roles, sameUnderRoot } from './answers.ts'
import { audit } from './audit.ts'
import { bodies } from './bodies.ts'
import { callers } from './callers.ts'
import { csrf } from './csrf.ts'
import { flags } from './flags.ts'
import { idempotency } from './idempotency.ts'
import { isolation } from './isolation.ts'
import type { Judge } from './judge.ts'
import { knownIds } from './known-ids.ts'
import { lists } from './lists.ts'
import { methods } from './methods.ts'
import { otherProject } from './other-project.ts'
import { queries } from './queries.ts'
import { randomRequests } from './random-requests.ts'
import { shownOnce } from './secrets.ts'
import { serviceVersion } from './service-version.ts'
import { suspension } from './suspension.ts'
import { tools } from './tools.ts'
import { unknownIds } from './unknown-ids.ts'

/**
 * Every promise about all routes of the admin API, in the order of the walk.
 *
 * - Lists come first, because they count the items of an empty project.
 * - Then come the judges who send refused requests and reads: all of them share one example of each route.
 * - Then come those who look at requests that were carried out, each with its own example.
 * - Random requests come last, because they move the clock.
 */
export const JUDGES: readonly Judge[] = [
  ...lists,
  flags,
  knownIds,
  ...callers,
  csrf,
  serviceVersion,
  methods,
  bodies,
  queries,
  unknownIds,
  otherProject,
  ...isolation,
  suspension,
  shownOnce,
  roles,
  answers,
  sameUnderRoot,
  ...idempotency,
  ...audit,
  ...tools,
  randomRequests,
]
