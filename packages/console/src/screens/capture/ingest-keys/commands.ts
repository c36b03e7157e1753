import { curlCommand, shellWord, type ShellPart } from '@postroad/contract/quoting'

const BODY = '{"type":"order.created","total":42.5,"items":3}'

type Sending = {
  /** The key while it is shown, else the shell variable with the key. */
  readonly key: ShellPart
  readonly isSigned: boolean
  readonly dataset: string
}

/** The uses of a key, each as a command for a terminal. */
export function commandsOf({ key, isSigned, dataset }: Sending) {
  const send = isSigned ? signed : plain
  return {
    'By rules': send(['/v1/ingest/', key]),
    'Into a dataset': send(['/v1/ingest/', key, `/${dataset}`]),
    'As an endpoint': send(['/v1/webhooks/', key, '/<slug>']),
    'Read the stream': curlCommand({
      url: [`${location.origin}/v1/stream`],
      options: ['-N'],
      headers: { Authorization: ['Bearer ', key] },
    }),
  } as const
}

export type Shape = keyof ReturnType<typeof commandsOf>

type Path = readonly ShellPart[]

function plain(path: Path): string {
  return curlCommand({ url: [location.origin, ...path], headers: { 'content-type': 'application/json' }, body: BODY })
}

/** The secret comes from the environment, so that it is in no command line and in no history. */
function signed(path: Path): string {
  return [
    `body=${shellWord(BODY)}`,
    't=$(date +%s)',
    `sig=$(printf '%s.%s' "$t" "$body" | openssl dgst -sha256 -hmac "$SIGNING_SECRET" -r | cut -d' ' -f1)`,
    curlCommand({
      url: [location.origin, ...path],
      headers: {
        'content-type': 'application/json',
        'X-Service-Signature': ['t=', { variable: 't' }, ',v1=', { variable: 'sig' }],
      },
      body: { variable: 'body' },
    }),
  ].join('\n')
}

/** The path of an event of each shape. */
export const SHAPE_TEXTS: Readonly<Record<Shape, string>> = {
  'By rules':
    'The URL does not name a dataset, so the project’s rules apply. Each matching rule creates a separate record. If no rule matches, Postroad stores the event, and “routed” in the response is empty.',
  'Into a dataset': 'Postroad stores the whole payload in the dataset in the URL. Rules do not apply.',
  'As an endpoint': 'The criteria and mappings of the endpoint with this slug apply. Rules do not apply.',
  'Read the stream':
    'Records as server-sent events, as soon as they are stored. A client that reconnects with the last ID misses no records.',
}
