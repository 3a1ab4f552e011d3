/** Keeps the largest number of units that was in use. */
export function raisePeak({ peaks }: { readonly peaks: number[] }, used: number): void {
  if (!(used <= (peaks[0] as number))) peaks[0] = used
}
