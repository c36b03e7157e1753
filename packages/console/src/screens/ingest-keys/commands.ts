const BODY = '{"type":"order.created","total":42.5,"items":3}'

type Sending = {
  /** As it stands in a shell: a variable, or the key itself while it is shown. */
  readonly key: string
  readonly isSigned: boolean
  readonly dataset: string
}

/** The shapes in which a key is used, each as a command for a terminal. */
export function commandsOf({ key, isSigned, dataset }: Sending) {
  const send = isSigned ? signed : plain
  return {
    'By rules': send(`/v1/ingest/${key}`),
    'Into a dataset': send(`/v1/ingest/${key}/${dataset}`),
    'As an endpoint': send(`/v1/webhooks/${key}/<slug>`),
    'Read the stream': `curl -N "${location.origin}/v1/stream" \\\n  -H "Authorization: Bearer ${key}"`,
  } as const
}

export type Shape = keyof ReturnType<typeof commandsOf>

function plain(path: string): string {
  return `curl "${location.origin}${path}" \\\n  -H 'content-type: application/json' \\\n  -d '${BODY}'`
}

/** The secret comes from the environment: it belongs in no command line, and so in no history. */
function signed(path: string): string {
  return [
    `body='${BODY}'`,
    't=$(date +%s)',
    `sig=$(printf '%s.%s' "$t" "$body" | openssl dgst -sha256 -hmac "$SIGNING_SECRET" -r | cut -d' ' -f1)`,
    `curl "${location.origin}${path}" \\\n  -H 'content-type: application/json' \\\n  -H "X-Service-Signature: t=$t,v1=$sig" \\\n  -d "$body"`,
  ].join('\n')
}

/** What becomes of an event that is sent so. */
export const SHAPE_TEXTS: Readonly<Record<Shape, string>> = {
  'By rules': 'No dataset in the address: the rules of the project are asked, here and nowhere else. Each that matches files a record of its own; when none does, the event is stored and “routed” is empty.',
  'Into a dataset': 'The whole payload is filed into the dataset that the address names. Rules are not asked.',
  'As an endpoint': 'The endpoint with this slug decides, by its own criteria and mappings. Rules are not asked.',
  'Read the stream': 'Records as they are stored, as server-sent events. Whoever comes back with the last id misses none of them.',
}
