import { z } from 'zod'
import { PlainPath } from './condition.ts'
import { requestSteps } from './dot-path.ts'
import { headerName, heldHeaderName } from './header-name.ts'

/** The place where an endpoint finds the title of an event: the sender's name for it. */

const EXAMPLE = 'X-GitHub-Event'

/** Headers in which senders name an event, for an endpoint without this setting. In lower case; the first one present counts. */
export const TITLE_HEADERS = [
  'x-github-event',
  'x-shopify-topic',
  'x-gitlab-event',
  'linear-event',
  'sentry-hook-resource',
] as const

/** Payload members in which senders name an event. `name` is left out, because it is often the name of a person. */
export const TITLE_MEMBERS = ['type', 'event', 'event_type', 'eventType', 'topic', 'action', 'kind'] as const

/** A title from a header has its own form. */
const PayloadPath = PlainPath.refine((path) => requestSteps(path) === undefined)

const eventTitle = (header: z.ZodString) =>
  z
    .union([z.strictObject({ header }), z.strictObject({ path: PayloadPath })], {
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
      'Where the console finds the title of an event: in a header of its request or at a path of the event. ' +
        `null: the first of the headers ${TITLE_HEADERS.join(', ')}, otherwise the first of the members ${TITLE_MEMBERS.join(', ')}.`,
    )

/** The setting as stored and shown. */
export const EventTitle = eventTitle(heldHeaderName(EXAMPLE))
/** The setting in a request. */
export const EventTitleSetting = eventTitle(headerName(EXAMPLE))
export type EventTitle = z.infer<typeof EventTitle>
