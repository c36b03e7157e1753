/** The modifier key of shortcuts, with its name on this platform. */
export const COMMAND_KEY = /Mac OS X/.test(navigator.userAgent) ? '⌘' : 'Ctrl'
