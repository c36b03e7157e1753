import { curlCommand, programText, shellWord } from '@postroad/contract/quoting'

const BODY = '{"type":"order.created","total":42.5,"items":3}'

/** The variable that the commands read while the URL is hidden. */
const VARIABLE = 'ENDPOINT_URL'

/** Commands and programs that send an event. Without a URL they take it from the environment. If the endpoint checks signatures, they contain the header. */
export function snippetsOf(url: string | undefined, signatureHeader?: string) {
  const shown = (read: string): string => (url === undefined ? read : programText(url))
  const header = signatureHeader === undefined || signatureHeader === '' ? undefined : signatureHeader
  const signature = header === undefined ? '' : programText(header)
  return {
    curl: curlCommand({
      url: url ?? { variable: VARIABLE },
      headers: {
        'content-type': 'application/json',
        ...(header === undefined ? {} : { [header]: '<signature>' }),
      },
      body: BODY,
    }),
    Node: `await fetch(${shown(`process.env.${VARIABLE}`)}, {\n  method: 'POST',\n  headers: { 'content-type': 'application/json'${header === undefined ? '' : `, ${signature}: signature`} },\n  body: JSON.stringify(${BODY}),\n})`,
    Python: `import json, os, urllib.request\n\nurllib.request.urlopen(urllib.request.Request(\n    ${shown(`os.environ["${VARIABLE}"]`)},\n    data=json.dumps(${BODY}).encode(),\n    headers={"content-type": "application/json"${header === undefined ? '' : `, ${signature}: signature`}},\n))`,
    Go: `request, _ := http.NewRequest("POST", ${shown(`os.Getenv("${VARIABLE}")`)}, strings.NewReader(\`${BODY}\`))\nrequest.Header.Set("Content-Type", "application/json")\n${header === undefined ? '' : `request.Header.Set(${signature}, signature)\n`}http.DefaultClient.Do(request)`,
    CLI: `npx postroad send ${url === undefined ? `"$${VARIABLE}"` : shellWord(url)} --data ${shellWord(BODY)}`,
  } as const
}

export type Language = keyof ReturnType<typeof snippetsOf>
