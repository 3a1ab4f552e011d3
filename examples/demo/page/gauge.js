/** Creates a bar that shows how much of a quota is left. Values between whole units are allowed. */
export function createGauge(root) {
  const track = root.querySelector('.track')
  const meter = root.querySelector('meter')
  const water = root.querySelector('.water')
  const [level, limit, note] = ['[data-level]', '[data-limit]', '[data-note]'].map((at) =>
    root.querySelector(at),
  )

  return function show(value, max, text) {
    const whole = Math.floor(value + 1e-6)
    root.classList.toggle('is-empty', whole === 0)
    water.style.transform = `scaleX(${value / max})`
    track.style.setProperty('--units', max)
    setText(level, String(whole))
    setText(limit, `of ${max} left`)
    setText(note, text)
    if (meter.max !== max) meter.max = max
    if (meter.value !== whole) meter.value = whole
  }
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text
}

/** Calls `draw` on every frame, or twice a second for users who prefer reduced motion. */
export function animate(draw) {
  const still = matchMedia('(prefers-reduced-motion: reduce)')
  function next() {
    draw()
    if (still.matches) setTimeout(next, 500)
    else requestAnimationFrame(next)
  }
  next()
}
