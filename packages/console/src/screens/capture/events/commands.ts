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
  CLI: (url: string) => `npx postroad send ${shellWord(new URL(url).href)} --data ${shellWord(SAMPLE_TEXT)}`,
} as const

export type CommandName = keyof typeof COMMANDS

/** Sends a body with the CLI. It signs the body with `$SECRET` for an endpoint that checks signatures. */
export function sendCommand({
  webhook,
  project,
  body,
}: {
  readonly webhook: { readonly slug: string; readonly verification: { readonly scheme: string } }
  readonly project: { readonly slug: string; readonly is_default: boolean }
  readonly body: string
}): string {
  const signed = webhook.verification.scheme === 'none' ? '' : ' --sign "$SECRET"'
  const inProject = project.is_default ? '' : ` --project ${shellWord(project.slug)}`
  return `npx postroad send ${shellWord(webhook.slug)} --data ${shellWord(body)}${signed}${inProject}`
}

/** A request that can be run again from a terminal. */
export function curlOf(request: {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}): string {
  return curlCommand(request)
}
