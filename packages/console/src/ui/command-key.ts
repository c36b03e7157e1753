/** The key that shortcuts combine with another one, as the keyboard of this platform names it. */
export const COMMAND_KEY = /Mac OS X/.test(navigator.userAgent) ? '⌘' : 'Ctrl'
