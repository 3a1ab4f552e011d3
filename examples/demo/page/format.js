/** Returns a time in seconds with its unit: one decimal below ten seconds. */
export function seconds(ms) {
  const s = Math.max(0, ms) / 1000
  return `${s < 9.95 ? s.toFixed(1) : Math.round(s)} s`
}
