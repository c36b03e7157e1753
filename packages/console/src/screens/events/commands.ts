import { shellWord } from '../../parts/commands.ts'
import { SAMPLE_TEXT } from './sample.ts'


/** The same event from a terminal or a program. */
export const COMMANDS = {
  curl: (url: string) => `curl ${url} \\\n  -H 'content-type: application/json' \\\n  -d '${SAMPLE_TEXT}'`,
  Node: (url: string) => `await fetch('${url}', {\n  method: 'POST',\n  headers: { 'content-type': 'application/json' },\n  body: JSON.stringify(${SAMPLE_TEXT}),\n})`,
  Python: (url: string) => `import json, urllib.request\n\nurllib.request.urlopen(urllib.request.Request(\n    '${url}',\n    data=json.dumps(${SAMPLE_TEXT}).encode(),\n    headers={'content-type': 'application/json'},\n))`,
  Go: (url: string) => `http.Post(\n  "${url}",\n  "application/json",\n  strings.NewReader(\`${SAMPLE_TEXT}\`),\n)`,
  CLI: (url: string) => `npm run postroad -- send ${new URL(url).href} --data '${SAMPLE_TEXT}'`,
} as const

export type CommandName = keyof typeof COMMANDS

/** A request that can be run again from a terminal. */
export function curlOf(request: { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: string }): string {
  const headers = Object.entries(request.headers).map(([name, value]) => `  -H ${shellWord(`${name}: ${value}`)}`)
  return [`curl ${shellWord(request.url)}`, ...headers, `  --data-binary ${shellWord(request.body)}`].join(' \\\n')
}
