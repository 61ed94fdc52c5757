let meta, rows;

function byId(id) { return document.getElementById(id); }

Promise.all([
  fetch('data/rooms.json').then(function (r) { return r.json(); }),
  fetch('data/scores.csv').then(function (r) { return r.text(); })
]).then(function (loaded) {
  meta = loaded[0];
  const lines = loaded[1].trim().split('\n');
  const names = lines[0].split(',');
  rows = lines.slice(1).map(function (line) {
    const row = {};
    line.split(',').forEach(function (cell, i) { row[names[i]] = cell; });
    return row;
  });
  draw();
});

function compute(room, year) {
  const row = rows.find(function (r) { return r.room === room.id && r.year === String(year); });
  if (!row) return null;
  let sum = 0, weight = 0, count = 0;
  meta.indicators.forEach(function (indicator) {
    const value = parseFloat(row[indicator.key]);
    if (isNaN(value)) return;
    sum += value * indicator.weight;
    weight += indicator.weight;
    count++;
  });
  return count < 3 ? null : sum / weight;
}

function draw() {
  const year = byId('y').value, type = byId('t').value, q = byId('q').value.toLowerCase();
  let list = meta.rooms.map(function (room) { return { room: room, score: compute(room, year) }; });
  list.sort(function (a, b) { return (b.score || 0) - (a.score || 0); });
  list.forEach(function (item, i) { item.rank = i + 1; });
  list = list.filter(function (item) {
    return (type === 'All' || item.room.type === type) &&
      (item.room.name.toLowerCase().includes(q) || item.room.town.toLowerCase().includes(q));
  });
  byId('body').innerHTML = list.map(function (item) {
    return '<tr onclick="toggle(this, \'' + item.room.id + '\')"><td>' + item.rank + '</td><td>' + item.room.name + '</td><td>' + item.room.town +
      '</td><td><span class="pill">' + item.room.type + '</span></td><td>' + (item.score === null ? 'N/A' : item.score.toFixed(1)) + '</td></tr>';
  }).join('');
  byId('none').style.display = list.length ? 'none' : 'block';
  const scored = list.filter(function (item) { return item.score !== null; });
  const best = scored[0];
  const mean = scored.reduce(function (sum, item) { return sum + item.score; }, 0) / (scored.length || 1);
  byId('tiles').innerHTML = [['Rooms', list.length], ['Mean score', mean.toFixed(1)], ['Best', best ? best.score.toFixed(1) : '–'], ['Year', year]]
    .map(function (t) { return '<div class="tile"><small>' + t[0] + '</small><strong>' + t[1] + '</strong></div>'; }).join('');
  drawChart(scored);
}

function drawChart(list) {
  const step = 1040 / 14;
  byId('chart').innerHTML = '<svg viewBox="0 0 1040 330" width="100%">' + list.map(function (item, i) {
    const h = item.score * 2.2, x = i * step + 12;
    return '<g><rect x="' + x + '" y="' + (230 - h) + '" width="' + (step - 24) + '" height="' + h + '" rx="3" fill="#4fd1b5"><title>' +
      item.room.name + '</title></rect><text transform="translate(' + (x + 30) + ' 246) rotate(-35)" text-anchor="end">' + item.room.name + '</text></g>';
  }).join('') + '</svg>';
}

function toggle(tr, id) {
  const next = tr.nextElementSibling;
  if (next && next.className === 'details') { next.remove(); return; }
  const row = rows.find(function (r) { return r.room === id && r.year === byId('y').value; });
  const text = meta.indicators.map(function (i) { return i.name + ': ' + (row ? row[i.key] : ''); }).join(' &nbsp; ');
  tr.insertAdjacentHTML('afterend', '<tr class="details"><td colspan="5">' + text + '</td></tr>');
}

['q', 't', 'y'].forEach(function (id) { byId(id).addEventListener('input', draw); });
byId('c').addEventListener('click', function () { byId('q').value = ''; byId('t').value = 'All'; draw(); });
