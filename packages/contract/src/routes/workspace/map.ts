import { z } from 'zod'
import { ERROR_CODES } from '../../error-codes.ts'
import { HOLD_CAUSES } from '../../holds.ts'
import { LIMITS } from '../../limits.ts'
import { Instant, Timestamp } from '../../list.ts'
import { MAP_KINDS } from '../../map-kinds.ts'
import { defineRoute, READ } from '../../route.ts'

const { mapLinesMax, mapNodesDefault, mapNodesMax, mapRangeDaysMax } = LIMITS

const Kind = z.enum(MAP_KINDS)

export const MapNode = z.object({
  id: z.string().describe('The id in the API; of a dataset its name.'),
  kind: Kind,
  name: z.string(),
  enabled: z.boolean(),
  events: z
    .int()
    .describe(
      'In the range: the requests or events that an origin sent, the records of a rule or a dataset, the runs that records started, or the deliveries of a destination.',
    ),
  rejected: z.int().describe('Rejected requests of an endpoint or an ingest key.'),
  delivered: z.int().describe('Attempts at a destination that succeeded.'),
  failed: z.int().describe('Attempts at a destination that failed.'),
  held: z
    .object({
      cause: z.enum(HOLD_CAUSES),
      deliveries: z.int(),
      more: z.boolean().describe('true: there are more than were counted.'),
      since: Timestamp.nullable(),
      next_probe_at: Timestamp.nullable(),
      last_error: z.enum(ERROR_CODES).nullable(),
      last_status: z.int().nullable(),
    })
    .nullable()
    .describe('The deliveries that are held back at a destination now, and why.'),
  detail: z
    .string()
    .nullable()
    .describe('The kind of a destination or a source, the schedule of a cron trigger, or the agent of an AI trigger.'),
})

export const MapEnd = z.object({
  kind: Kind,
  id: z.string().nullable().describe('null: all nodes of this kind that were left out.'),
})

const MapLine = z.object({
  from: MapEnd,
  to: MapEnd,
  events: z
    .int()
    .nullable()
    .describe(
      'The records, runs or deliveries that went over the line in the range; null: not known, because the same destination also receives the dataset directly.',
    ),
  configured: z.boolean().describe('false: events went over it in the range, but the present settings send none.'),
})

export const MapOmitted = z.object({
  kind: Kind,
  nodes: z.int(),
  events: z.int(),
  rejected: z.int(),
  delivered: z.int(),
  failed: z.int(),
})

export const map = {
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'map',
    summary: 'Get the map of a project',
    description:
      'Who sends to whom: endpoints, keys, sources and triggers to rules and datasets, and datasets to workflows, AI triggers and destinations, with the events of a time range on each line. ' +
      `Nodes with problems come first, then those with the most events. Further nodes are added up by kind. A range is at most ${mapRangeDaysMax} days long.`,
    ...READ,
    status: 200,
    query: z.object({
      from: Instant.optional().describe('RFC 3339: the start of the range. Absent: 24 hours before its end.'),
      to: Instant.optional().describe('RFC 3339: the end of the range (exclusive). Absent: now.'),
      limit: z.coerce
        .number()
        .int()
        .min(1)
        .max(mapNodesMax)
        .default(mapNodesDefault)
        .describe(`The maximum number of nodes of each kind, 1 to ${mapNodesMax}.`),
    }),
    output: z.object({
      map: z.object({
        from: Timestamp.describe('The start of the range, rounded out to whole minutes or hours.'),
        to: Timestamp,
        counted_at: Timestamp.nullable().describe('The time of the last count; null: not counted yet.'),
        lines_since: Timestamp.nullable().describe(
          'Events of origins, rules, datasets and lines are counted from this time on; null: from the first event.',
        ),
        first_at: Timestamp.nullable().describe('The first minute with events that is counted; null: there is none.'),
        nodes: z.array(MapNode),
        lines: z.array(MapLine).describe(`At most ${mapLinesMax}, those with the most events first.`),
        lines_left_out: z.int(),
        omitted: z.array(MapOmitted).describe('The nodes that were left out, added up by kind.'),
      }),
    }),
  }),
} as const
