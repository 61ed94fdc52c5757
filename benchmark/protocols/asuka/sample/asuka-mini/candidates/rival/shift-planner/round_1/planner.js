const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
let people = [], shifts = [];
const el = id => document.getElementById(id);
const toHours = t => { const [h, m] = t.split(':'); return +h + m / 60; };
const dayOf = shift => (new Date(shift.date).getDay() + 6) % 7;

async function start() {
  people = (await (await fetch('data/staff.json')).json()).staff;
  shifts = await (await fetch('data/shifts.json')).json();
  const saved = localStorage.getItem('shifts');
  if (saved) shifts = JSON.parse(saved);
  el('head').innerHTML = '<th></th>' + DAYS.map(d => `<th>${d}</th>`).join('');
  el('person').innerHTML = people.map(p => `<option value="${p.id}">${p.name}</option>`).join('');
  el('show').innerHTML += el('person').innerHTML;
  el('day').innerHTML = DAYS.map((d, i) => `<option value="2025-03-0${i + 3}">${d}</option>`).join('');
  render();
}

function clashes(shift) {
  return shifts.some(o => o !== shift && o.person === shift.person && o.date === shift.date && o.start < shift.end && shift.start < o.end);
}

function render() {
  const only = el('show').value;
  el('body').innerHTML = people.filter(p => !only || p.id === only).map(p => {
    const own = shifts.filter(s => s.person === p.id);
    const hours = own.reduce((sum, s) => sum + Math.abs(toHours(s.end) - toHours(s.start)), 0);
    return `<tr><th>${p.name}<br><small>${hours} h of ${p.contract_hours} h</small></th>` + DAYS.map((d, i) =>
      `<td aria-label="${p.name}, ${d}">` + own.filter(s => dayOf(s) === i).map(s =>
        `<div class="s ${clashes(s) ? 'bad' : ''}">${s.start} - ${s.end}<br>${s.role || ''}${clashes(s) ? ' Conflict' : ''}</div>`).join('') + '</td>').join('') + '</tr>';
  }).join('');
}

el('add').onclick = () => el('form').classList.add('open');
el('cancel').onclick = () => el('form').classList.remove('open');
el('show').onchange = render;
el('form').onsubmit = e => {
  e.preventDefault();
  shifts.push({ id: 'x' + shifts.length, person: el('person').value, date: el('day').value, start: el('start').value, end: el('end').value });
  localStorage.setItem('shifts', JSON.stringify(shifts));
  el('form').classList.remove('open');
  render();
};
el('csv').onclick = () => {
  const a = document.createElement('a');
  a.href = 'data:text/csv,' + encodeURIComponent(shifts.map(s => [s.person, s.date, s.start, s.end].join(',')).join('\n'));
  a.download = 'rota-2025-03-03.csv';
  a.click();
};
start();
