import { readFileSync } from 'node:fs'
import { Marked, type Tokens } from 'marked'
import { escapeHtml } from '../../domain/people/email-text.ts'
import { asHtml } from '../html.ts'
import { docsPage } from './frame.ts'
import { PAGES, urlOfFile } from './pages.ts'

/** A part of a page that the search finds: its heading and its text. */
export type Section = { readonly page: string; readonly title: string; readonly url: string; readonly text: string }
export type Guide = { readonly url: string; readonly html: string; readonly sections: readonly Section[] }

/** The URLs of the pages that are built from a Markdown file. */
export const GUIDE_URLS: readonly string[] = PAGES.flatMap(({ pages }) => pages).flatMap(({ url, file }) =>
  file === undefined ? [] : [url],
)

/** Every page that is built from a Markdown file. */
export function guides(): readonly Guide[] {
  return PAGES.flatMap(({ pages }) => pages).flatMap(({ url, name, file }) => {
    if (file === undefined) return []
    const markdown = readFileSync(file, 'utf8')
    const main = asHtml(marked.parse(markdown, { async: false }))
    return [{ url, html: docsPage({ title: name, at: url, main }), sections: sectionsOf(markdown, { url, name }) }]
  })
}

/** Every page that is built from a Markdown file, as it was written. Read once. */
export function docsSources(): readonly { readonly word: string; readonly name: string; readonly markdown: string }[] {
  return (sources ??= PAGES.flatMap(({ pages }) => pages).flatMap(({ name, file }) =>
    file === undefined
      ? []
      : [
          {
            word: file.pathname.split('/').at(-1)?.replace(/\.md$/, '') ?? '',
            name,
            markdown: readFileSync(file, 'utf8'),
          },
        ],
  ))
}

let sources: ReturnType<typeof docsSources> | undefined

const marked = new Marked({
  renderer: {
    heading({ tokens, depth, text }: Tokens.Heading): string {
      return `<h${depth} id="${idOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
    code({ text, lang }: Tokens.Code): string {
      // GitHub draws the diagram. Here the table below it has the same content.
      if (lang === 'mermaid') return ''
      return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`
    },
    link({ href, tokens }: Tokens.Link): string {
      const text = this.parser.parseInline(tokens)
      const target = addressOf(href)
      return target === undefined ? text : `<a href="${escapeHtml(target)}">${text}</a>`
    },
    // A page of the product loads nothing from other origins, and these pages need no images.
    image: () => '',
    html: () => '',
  },
  hooks: {
    // A wide table scrolls in its box, so that the page fits a phone. The first cell of a row is a link target.
    postprocess: (page: string) =>
      page
        .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
        .replaceAll('</table>', '</table></div>')
        .replaceAll(/<tr>\s*<td><code>(\w+)<\/code>/g, '<tr id="$1"><td><code>$1</code>'),
  },
})

/** A link to another file becomes a link to its page. A file without a page gets no link. */
function addressOf(href: string): string | undefined {
  if (/^(?:https?:|\/|#)/.test(href)) return href
  const [path = '', anchor] = href.split('#')
  const page = urlOfFile(path.split('/').at(-1) ?? '')
  return page === undefined ? undefined : `${page}${anchor === undefined ? '' : `#${anchor}`}`
}

function idOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(/\s+/g, '-')
}

function sectionsOf(
  markdown: string,
  { url, name }: { readonly url: string; readonly name: string },
): readonly Section[] {
  return markdown
    .replaceAll(/<!--.*?-->/gs, '')
    .split(/^(?=#{1,3} )/m)
    .filter((part) => part.startsWith('#'))
    .map((part) => {
      const [heading = '', ...lines] = part.split('\n')
      const title = heading.replace(/^#+ /, '').replaceAll('`', '')
      const at = heading.startsWith('# ') ? url : `${url}#${idOf(title)}`
      return {
        page: name,
        title,
        url: at,
        text: lines
          .map((line) => line.replace(/^\s*[-*] /, ''))
          .join(' ')
          .replaceAll(/[`*[]|\]\([^)]*\)|-{3,}/g, '')
          .replaceAll(/[|\s]+/g, ' ')
          .trim(),
      }
    })
}
