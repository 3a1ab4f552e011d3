/** Returns a time in seconds with its unit: one decimal below ten seconds. */
export function seconds(ms) {
  const s = Math.max(0, ms) / 1000
  return `${s < 9.95 ? s.toFixed(1) : Math.round(s)} s`
}

/** Returns a number with its noun: `1 guess`, `12 guesses`. */
export function count(number, one, many) {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`
}
