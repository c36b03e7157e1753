/**
 * Text that others wrote, made safe to print: control characters, which could write on the terminal, and marks that
 * turn the direction of reading are shown by their code.
 */
export function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, (letter) => {
    const code = letter.codePointAt(0) ?? 0
    return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
  })
}

/** The same over many lines, which stay lines. */
export function plainLines(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll('\t', '  ').split('\n').map(plain).join('\n')
}

const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]/u
const NO_WIDTH = /\p{Mn}|\p{Me}|\p{Cf}/u

/** How many columns a plain text takes on a terminal. */
export function widthOf(text: string): number {
  let width = 0
  for (const letter of text) width += columnsOf(letter)
  return width
}

/** The text in at most `width` columns; what is left out is shown as an ellipsis. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let kept = ''
  let left = width - 1
  for (const letter of text) {
    left -= columnsOf(letter)
    if (left < 0) break
    kept += letter
  }
  return `${kept}…`
}

function columnsOf(letter: string): number {
  if (NO_WIDTH.test(letter)) return 0
  return WIDE.test(letter) ? 2 : 1
}
