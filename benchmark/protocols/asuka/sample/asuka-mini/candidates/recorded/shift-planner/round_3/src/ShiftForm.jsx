import { useEffect, useRef, useState } from "react";
import { days, problemOf, roles, staff } from "./rota.js";

export function ShiftForm({ shift, onSave, onCancel }) {
  const dialog = useRef(null);
  const [problem, setProblem] = useState("");
  const [values, setValues] = useState({
    person: shift.person || staff[0].id,
    date: shift.date,
    start: shift.start ?? "09:00",
    end: shift.end ?? "17:00",
    role: shift.role ?? roles[0],
  });

  useEffect(() => {
    dialog.current.showModal();
  }, []);

  const field = (name) => ({
    value: values[name],
    onChange: (event) => setValues({ ...values, [name]: event.target.value }),
  });

  function submit(event) {
    event.preventDefault();
    const found = problemOf(values);
    setProblem(found);
    if (!found) onSave(values);
  }

  return (
    <dialog ref={dialog} onCancel={onCancel} aria-labelledby="form-title">
      <form onSubmit={submit} noValidate>
        <h2 id="form-title">{shift.id ? "Change shift" : "New shift"}</h2>
        <label className="wide">Person
          <select {...field("person")}>{staff.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}</select>
        </label>
        <label>Day
          <select {...field("date")}>{days.map(({ name, date }) => <option key={date} value={date}>{name}</option>)}</select>
        </label>
        <label>Role
          <select {...field("role")}>{roles.map((role) => <option key={role}>{role}</option>)}</select>
        </label>
        <label>Start <input type="time" {...field("start")} /></label>
        <label>End <input type="time" {...field("end")} /></label>
        {problem && <p className="problem wide" role="alert">{problem}</p>}
        <div className="buttons wide">
          <button type="button" onClick={onCancel}>Cancel</button>
          <button type="submit" className="main">Save shift</button>
        </div>
      </form>
    </dialog>
  );
}
