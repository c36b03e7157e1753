/** Every item of a list, page after page: for lists that people set up by hand. */
export async function every<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}
