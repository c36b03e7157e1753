export type Coding = 'br' | 'gzip'

/** The best available coding that the client accepts; undefined: send the body uncompressed. */
export function bestCoding(accepted: string, there: { readonly has: (coding: Coding) => boolean }): Coding | undefined {
  const tokens = accepted
    .split(',')
    .map((token) => token.trim().toLowerCase())
    .filter((token) => !/;\s*q=0(?:\.0*)?$/.test(token))
    .map((token) => token.split(';')[0])
  return (['br', 'gzip'] as const).find((coding) => tokens.includes(coding) && there.has(coding))
}
