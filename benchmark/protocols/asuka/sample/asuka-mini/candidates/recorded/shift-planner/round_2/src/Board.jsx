import { useState } from "react";
import { conflicts, days, hoursOf, hoursText } from "./rota.js";

export function Board({ people, shifts, onMove, onRemove, onOpen }) {
  const [over, setOver] = useState("");
  const clashing = conflicts(shifts);

  function drop(event, person, day) {
    event.preventDefault();
    setOver("");
    onMove(event.dataTransfer.getData("text/plain"), { person: person.id, date: day.date });
  }

  function press(event, shift) {
    const row = people.findIndex(({ id }) => id === shift.person);
    const column = days.findIndex(({ date }) => date === shift.date);
    const steps = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
    if (event.key === "Delete" || event.key === "Backspace") onRemove(shift.id);
    else if (event.key === "Enter") onOpen(shift);
    else if (steps[event.key]) {
      event.preventDefault();
      const person = people[row + steps[event.key][0]];
      const day = days[column + steps[event.key][1]];
      if (!person || !day) return;
      onMove(shift.id, { person: person.id, date: day.date });
    }
  }

  const chip = (shift) => (
    <div
      key={`${shift.person}-${shift.date}-${shift.id}`}
      role="button"
      tabIndex={0}
      draggable
      data-shift={shift.id}
      className={`shift ${shift.role.toLowerCase()}${clashing.has(shift.id) ? " clash" : ""}`}
      onDragStart={(event) => event.dataTransfer.setData("text/plain", shift.id)}
      onKeyDown={(event) => press(event, shift)}
      onClick={() => onOpen(shift)}
    >
      <b>{shift.start}–{shift.end}</b>
      <span>{shift.role}</span>
      {clashing.has(shift.id) && <em>Conflict</em>}
    </div>
  );

  const cell = (person, day) => {
    const key = `${person.id} ${day.date}`;
    const here = shifts
      .filter((shift) => shift.person === person.id && shift.date === day.date)
      .sort((a, b) => a.start.localeCompare(b.start));
    return (
      <td
        key={day.date}
        aria-label={`${person.name}, ${day.name}`}
        className={over === key ? "over" : ""}
        onDragOver={(event) => { event.preventDefault(); setOver(key); }}
        onDragLeave={() => setOver("")}
        onDrop={(event) => drop(event, person, day)}
      >
        {here.map(chip)}
      </td>
    );
  };

  return (
    <div className="board">
      <table>
        <thead>
          <tr>
            <th scope="col">Person</th>
            {days.map(({ name, number }) => (
              <th scope="col" key={name} abbr={name}>{name.slice(0, 3)} <span>{number}</span></th>
            ))}
          </tr>
        </thead>
        <tbody>
          {people.map((person) => (
            <tr key={person.id}>
              <Person person={person} hours={hoursOf(shifts, person.id)} />
              {days.map((day) => cell(person, day))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Person({ person, hours }) {
  const share = Math.min(hours / person.contract_hours, 1) * 100;
  const extra = hours - person.contract_hours;
  return (
    <th scope="row">
      <span className="name">{person.name}</span>
      <span className="hours">{hoursText(hours)} of {hoursText(person.contract_hours)}</span>
      <span className={extra > 0 ? "bar full" : "bar"}><i style={{ width: `${share}%` }} /></span>
      {extra > 0 && <span className="extra">{hoursText(extra)} over</span>}
    </th>
  );
}
