import { z } from 'zod'
import { DotPath } from './condition.ts'
import { headerName, heldHeaderName } from './header-name.ts'

/** Where an endpoint finds the title of an event: what its sender calls it. */

const EXAMPLE = 'X-GitHub-Event'

/** Headers in which senders name an event, for an endpoint that names no place itself. In lower case, the first one counts. */
export const TITLE_HEADERS = [
  'x-github-event',
  'x-shopify-topic',
  'x-gitlab-event',
  'linear-event',
  'sentry-hook-resource',
] as const

/** Members of a payload in which senders name an event. `name` is none of them: it is often the name of a person. */
export const TITLE_MEMBERS = ['type', 'event', 'event_type', 'eventType', 'topic', 'action', 'kind'] as const

const eventTitle = (header: z.ZodString) =>
  z
    .union([z.strictObject({ header }), z.strictObject({ path: DotPath })], {
      error: ({ input }) =>
        typeof input === 'object' &&
        input !== null &&
        'header' in input &&
        header.safeParse(input.header).error !== undefined
          ? header.safeParse(input.header).error?.issues[0]?.message
          : 'The title is {"header": "X-GitHub-Event"}, {"path": "type"} with a dot path into the event, or null.',
    })
    .nullable()
    .describe(
      'Where the console finds the title of an event: in a header of its request, or at a path of the event. ' +
        `null: in the first of the headers ${TITLE_HEADERS.join(', ')}, else in the first of the members ${TITLE_MEMBERS.join(', ')}.`,
    )

/** As it is stored and shown. */
export const EventTitle = eventTitle(heldHeaderName(EXAMPLE))
/** As it is configured. */
export const EventTitleSetting = eventTitle(headerName(EXAMPLE))
export type EventTitle = z.infer<typeof EventTitle>
