import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider'
import { html } from '../html.ts'
import { pageHeaders } from '../page-headers.ts'
import { framed } from '../page.ts'

/** An error that must not go back to the client, because the request does not prove where the client is. */
export function errorPage(context: KoaContextWithOIDC, { error, error_description: described }: ErrorOut): void {
  for (const [name, value] of Object.entries(pageHeaders('text/html; charset=utf-8'))) context.set(name, value)
  context.body = problemPage(sentenceOf(error, described))
}

function sentenceOf(error: string, described: string | undefined): string {
  switch (error) {
    case 'invalid_client':
      return 'This program is not registered here, or its metadata cannot be read. Remove its registration from the program, and connect it again.'
    case 'invalid_redirect_uri':
      return 'The program asked to return to an address that it did not register. Nothing was sent there. Connect the program again, or report this to its developer.'
    default:
      return described === undefined
        ? 'The program sent a request that is not valid. Connect it again, or report this to its developer.'
        : `The program sent a request that is not valid: ${described}. Connect it again, or report this to its developer.`
  }
}

export function problemPage(sentence: string): string {
  const main = html`
    <main class="card">
      <h1>Not connected</h1>
      <p class="lead" role="alert">${sentence}</p>
      <p><a class="button" href="/">Go to the console</a></p>
    </main>
  `
  return framed({ title: 'Not connected · Postroad', style: 'sign-in', main })
}
