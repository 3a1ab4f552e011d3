/** Whom the history of the settings names for changes that a trial makes itself, such as when it reverts a limit. */
export const OWN_AUTHOR = 'tune'

/** Returns whether a name reads as the one of trials, so that no operator's change can be taken for one of theirs. */
export function isOwnAuthor(name: string): boolean {
  const letters = name.normalize('NFKC').replace(/[\p{C}\p{Z}]+/gu, '')
  return letters.toLowerCase() === OWN_AUTHOR
}
