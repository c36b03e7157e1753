import { curlCommand, programText, shellWord } from '@postroad/contract/quoting'
import { SAMPLE_TEXT } from './sample.ts'

const JSON_HEADERS = { 'content-type': 'application/json' }

/** The same event from a terminal or a program. */
export const COMMANDS = {
  curl: (url: string) => curlCommand({ url, headers: JSON_HEADERS, body: SAMPLE_TEXT }),
  Node: (url: string) =>
    `await fetch(${programText(url)}, {\n  method: 'POST',\n  headers: { 'content-type': 'application/json' },\n  body: JSON.stringify(${SAMPLE_TEXT}),\n})`,
  Python: (url: string) =>
    `import json, urllib.request\n\nurllib.request.urlopen(urllib.request.Request(\n    ${programText(url)},\n    data=json.dumps(${SAMPLE_TEXT}).encode(),\n    headers={"content-type": "application/json"},\n))`,
  Go: (url: string) =>
    `http.Post(\n  ${programText(url)},\n  "application/json",\n  strings.NewReader(\`${SAMPLE_TEXT}\`),\n)`,
  CLI: (url: string) => `npm run postroad -- send ${shellWord(new URL(url).href)} --data ${shellWord(SAMPLE_TEXT)}`,
} as const

export type CommandName = keyof typeof COMMANDS

/** A request that can be run again from a terminal. */
export function curlOf(request: {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}): string {
  return curlCommand(request)
}
