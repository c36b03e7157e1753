import { readFileSync } from 'node:fs'
import { asHtml, html, toText, type Html } from './html.ts'

export const ASSETS = new URL('../../assets/', import.meta.url)

type Page = {
  readonly title: string
  /** The name of its style sheet under /assets, and of its script, if it has one. */
  readonly style: 'sign-in' | 'docs'
  readonly script?: string
  /** Reloads itself after this many seconds. */
  readonly refreshSeconds?: number
  /** The part of its header after the name. */
  readonly header?: Html
  readonly main: Html
}

/** A page besides the console: its body in the common frame, which has the font, the colors and the logo of the console. */
export function framed({ title, style, script, refreshSeconds, header, main }: Page): string {
  return toText(html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">${
      refreshSeconds === undefined
        ? ''
        : html`
    <meta http-equiv="refresh" content="${refreshSeconds}">`
    }
    <title>${title}</title>
    <link rel="icon" href="data:,">
    <script src="/assets/theme.js"></script>
    <link rel="stylesheet" href="/assets/base.css">
    <link rel="stylesheet" href="/assets/${style}.css">${
      script === undefined
        ? ''
        : html`
    <script type="module" src="/assets/${script}.js"></script>`
    }
  </head>
  <body>
    <header>
      <svg class="mark" viewBox="0 0 14 14" aria-hidden="true"><path d="M1.5 7h3c2 0 2-4.5 4-4.5h4M4.5 7c2 0 2 4.5 4 4.5h4M4.5 7h8" /></svg>
      <strong>Postroad</strong>${header ?? ''}
    </header>
${main}  </body>
</html>
`)
}

/** The body of a page, from its file in the assets. */
export function bodyIn(file: string): Html {
  return asHtml(readFileSync(new URL(file, ASSETS), 'utf8'))
}
