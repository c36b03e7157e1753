const BODY = '{"type":"order.created","total":42.5,"items":3}'

/** How to send an event from a terminal or a program; with the header of the signature, when one is checked. */
export function snippetsOf(url: string, signatureHeader?: string) {
  const isVariable = url.startsWith('$')
  const shell = isVariable ? `"${url}"` : url
  const named = (read: string): string => (isVariable ? read : `'${url}'`)
  const quoted = (read: string): string => (isVariable ? read : `"${url}"`)
  const header = signatureHeader === undefined || signatureHeader === '' ? undefined : signatureHeader
  return {
    curl: `curl ${shell} \\\n  -H 'content-type: application/json' \\\n${header === undefined ? '' : `  -H '${header}: <signature>' \\\n`}  -d '${BODY}'`,
    Node: `await fetch(${named('process.env.ENDPOINT_URL')}, {\n  method: 'POST',\n  headers: { 'content-type': 'application/json'${header === undefined ? '' : `, '${header}': signature`} },\n  body: JSON.stringify(${BODY}),\n})`,
    Python: `import json, os, urllib.request\n\nurllib.request.urlopen(urllib.request.Request(\n    ${quoted('os.environ["ENDPOINT_URL"]')},\n    data=json.dumps(${BODY}).encode(),\n    headers={"content-type": "application/json"${header === undefined ? '' : `, "${header}": signature`}},\n))`,
    Go: `request, _ := http.NewRequest("POST", ${quoted('os.Getenv("ENDPOINT_URL")')}, strings.NewReader(\`${BODY}\`))\nrequest.Header.Set("Content-Type", "application/json")\n${header === undefined ? '' : `request.Header.Set("${header}", signature)\n`}http.DefaultClient.Do(request)`,
    CLI: `npm run postroad -- send ${shell} --data '${BODY}'`,
  } as const
}

export type Language = keyof ReturnType<typeof snippetsOf>
