/** Prints why the demo cannot run, and exits. */
export function giveUp(message: string): never {
  console.error(message)
  process.exit(1)
}
