/** A part of the console that could not be loaded. `cause` is the error of the browser. */
export class NotLoaded extends Error {
  override readonly name = 'NotLoaded'

  constructor(cause: unknown) {
    super('A part of the console could not be loaded.', { cause })
  }
}

/** Loads a part of the console. A failure is an error of its own, so that the page can wait for the server instead of breaking. */
export async function loaded<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    throw new NotLoaded(cause)
  }
}
