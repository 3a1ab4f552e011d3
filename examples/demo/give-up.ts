/** Says why the demo cannot run, and ends the process. */
export function giveUp(message: string): never {
  console.error(message)
  process.exit(1)
}
