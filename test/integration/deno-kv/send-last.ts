/** Sends a program's last message to its parent. Deno can drop one that is not sent when it disconnects. */
export function sendLast(message: unknown): void {
  process.send?.(message, undefined, undefined, () => process.disconnect())
}
