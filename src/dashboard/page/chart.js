import uPlot from './uPlot.esm.js'

const HEIGHT = 160
const FONT = '12px Inter, system-ui, sans-serif'

/** Returns a function that gives a color of the theme as `rgb(…)`: a canvas cannot read variables. */
function colorsOf(holder) {
  const probe = holder.appendChild(document.createElement('i'))
  const colors = ['muted', 'line', 'brand', 'red'].map((name) => {
    probe.style.color = `var(--${name})`
    return [name, getComputedStyle(probe).color]
  })
  probe.remove()
  return Object.fromEntries(colors)
}

/** Returns the rates of traffic, a second. All slots are over, so each point is final. */
function ratesOf({ traffic, slotMs }) {
  const { lastSlot, allowed, denied } = traffic
  const first = lastSlot - allowed.length + 1
  const times = allowed.map((_, i) => ((first + i) * slotMs) / 1000)
  const perSecond = (counts) => counts.map((count) => count / (slotMs / 1000))
  return [times, perSecond(allowed), perSecond(denied)]
}

function optionsOf(width, colors) {
  const axis = {
    stroke: colors.muted,
    font: FONT,
    labelFont: FONT,
    grid: { stroke: colors.line, width: 1 },
    ticks: { show: false },
  }
  const series = (label, color, dash) => ({
    label,
    stroke: color,
    fill: color.replace(')', ' / 0.13)').replaceAll(', ', ' '),
    width: 2,
    dash,
    points: { show: false },
    value: (_, value) => (value == null ? '-' : `${value.toFixed(1)} per second`),
  })
  return {
    width,
    height: HEIGHT,
    padding: [8, 20, 0, 0],
    cursor: { drag: { x: false, y: false } },
    legend: { live: true },
    series: [
      {
        label: 'Time',
        value: (_, value) => (value == null ? '-' : new Date(value * 1000).toLocaleTimeString('en-GB')),
      },
      series('Allowed', colors.brand),
      series('Denied', colors.red, [6, 3]),
    ],
    axes: [
      {
        ...axis,
        size: 28,
        values: (_, times) =>
          times.map((time) => new Date(time * 1000).toLocaleTimeString('en-GB').slice(0, 5)),
      },
      { ...axis, label: 'requests per second', labelSize: 22, size: 46 },
    ],
    scales: { y: { range: (_, _min, max) => [0, Math.max(1, max * 1.1)] } },
  }
}

/** Creates a chart of allowed and denied requests. */
export function trafficChart(holder) {
  let chart
  let latest

  function draw() {
    chart?.destroy()
    const data = ratesOf(latest)
    chart = new uPlot(optionsOf(holder.clientWidth, colorsOf(holder)), data, holder)
  }

  new ResizeObserver(() => {
    if (chart && chart.width !== holder.clientWidth)
      chart.setSize({ width: holder.clientWidth, height: HEIGHT })
  }).observe(holder)
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => latest && draw())

  return function show(shown) {
    latest = shown
    if (chart === undefined) draw()
    else chart.setData(ratesOf(shown))
  }
}
