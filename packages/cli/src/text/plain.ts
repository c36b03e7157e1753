/**
 * Makes text that others wrote safe to print. Control characters, which could control the terminal, and characters that
 * change the direction of reading become their code.
 */
export function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, (char) => {
    const code = char.codePointAt(0) ?? 0
    return code < 256 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
  })
}

/** The same for text with several lines. */
export function plainLines(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll('\t', '  ').split('\n').map(plain).join('\n')
}

const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]/u
const NO_WIDTH = /\p{Mn}|\p{Me}|\p{Cf}/u

/** The number of columns that a plain text takes on a terminal. */
export function widthOf(text: string): number {
  let width = 0
  for (const char of text) width += columnsOf(char)
  return width
}

/** The text in at most `width` columns, with an ellipsis where it is cut off. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let shown = ''
  let left = width - 1
  for (const char of text) {
    left -= columnsOf(char)
    if (left < 0) break
    shown += char
  }
  return `${shown}…`
}

function columnsOf(char: string): number {
  if (NO_WIDTH.test(char)) return 0
  return WIDE.test(char) ? 2 : 1
}
