import type { ReactElement } from 'react'

const TOKENS =
  /('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`)|(?<=^|\s)(--?[A-Za-z][\w-]*)|(#.*$|(?<=^|\s)\/\/.*$)|(?<=^|[;&|(]\s*)(curl|npm|await|import|http|sig|body|key|time|id)\b/gm

/** A command or a short program with colors for its quoted texts, options and first words. The text stays the same. */
export function CodeText({ children: text }: { readonly children: string }): ReactElement {
  const pieces: ReactElement[] = []
  let at = 0
  for (const found of text.matchAll(TOKENS)) {
    const [whole, quoted, option, remark] = found
    if (found.index > at) pieces.push(<span key={at}>{text.slice(at, found.index)}</span>)
    pieces.push(
      <span
        key={`t${found.index}`}
        className={
          quoted !== undefined
            ? 'text-block-quoted'
            : option !== undefined
              ? 'text-block-option'
              : remark !== undefined
                ? 'text-block-ink-2'
                : 'text-block-word'
        }
      >
        {whole}
      </span>,
    )
    at = found.index + whole.length
  }
  pieces.push(<span key={at}>{text.slice(at)}</span>)
  return <>{pieces}</>
}
