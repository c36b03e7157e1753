import type { z } from 'zod'
import { Condition } from '../condition.ts'
import { CustomerPlace } from '../customer-setting.ts'
import { Decision, Failure } from '../decision.ts'
import { DryRun } from '../dry-run.ts'
import { Accepted, Envelope } from '../envelope.ts'
import { ErrorBody } from '../errors.ts'
import { EventSummary } from '../event-summary.ts'
import { Mapping } from '../mapping.ts'
import { OriginError } from '../origin-error.ts'
import { ROOMS } from './rooms.ts'

const OF_ROOMS: Readonly<Record<string, z.ZodType>> = Object.assign(
  {},
  ...Object.values(ROOMS).map(({ schemas }) => schemas),
)

/** The schemas that programs refer to by name. Every operation of the OpenAPI document refers to these instead of repeating them. */
export const NAMED_SCHEMAS = {
  ...OF_ROOMS,
  Accepted,
  Condition,
  CustomerPlace,
  Decision,
  DeliveryEnvelope: Envelope,
  DryRun,
  Error: ErrorBody,
  EventSummary,
  FailedCondition: Failure,
  Mapping,
  OriginError,
}
