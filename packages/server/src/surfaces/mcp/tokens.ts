/**
 * An estimate, on the high side, of the tokens that a model reads for a text. Words cost a token per four letters; ids, digits and
 * other scripts cost more. It stops above `most`, because a text of megabytes would take seconds.
 */
export function tokensIn(text: string, most = Infinity): number {
  let tokens = 0
  for (const [run] of text.matchAll(/[A-Za-z0-9]+|[^\sA-Za-z0-9]/g)) {
    tokens += costOf(run)
    if (tokens > most) break
  }
  return Math.ceil(tokens)
}

function costOf(run: string): number {
  if (/^[A-Za-z]+$/.test(run)) return Math.max(1, run.length / 4)
  if (/^\d+$/.test(run)) return Math.max(1, run.length / 2)
  if (/^[A-Za-z0-9]+$/.test(run)) return run.length / 1.7
  // Punctuation that JSON has in rows, such as `":"`, is often one token.
  return run.charCodeAt(0) < 0x80 ? 0.6 : 1.5
}
